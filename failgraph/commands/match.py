"""``failgraph match``: explain an incident from findings that another program hands in."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from failgraph.commands.output import AnswerFormat, FormatOption, TopOption
from failgraph.schema.errors import NothingReadError, UsageError

if TYPE_CHECKING:
    from failgraph.schema.exchange import MatchInput

MAX_BYTES: Final = 32 * 1024 * 1024
"""Largest JSON that is read."""
_PLAIN_WORDS: Final = {
    "extra_forbidden": "there is no such key",
    "model_type": "this must be an object",
    "tuple_type": "this must be a list",
}
"""What the types of problems mean in the words of JSON."""


def match(
    source: Annotated[str, typer.Argument(metavar="FILE", help="JSON file; - is standard input.")],
    output: FormatOption = AnswerFormat.TEXT,
    top: TopOption = 5,
) -> None:
    """Explain an incident from findings in JSON.

    docs/schema/match-input.schema.json describes what goes in; --format json gives what answer.schema.json says.

    Example:
        echo '{"findings": [{"observable": "nccl-shm-failed"}]}' | failgraph match -
    """
    from failgraph.commands.answering import answer_incident
    from failgraph.loaders.handed_in import incident_from_input

    name = "standard input" if source == "-" else source
    handed_in = parse_match_input(read_bounded(source), name)
    answer_incident(lambda lexicon: incident_from_input(handed_in, lexicon), output, top)


def read_bounded(source: str) -> bytes:
    """Return the bytes of a file, or of standard input for ``-``.

    Raises:
        NothingReadError: it cannot be read, or is larger than :data:`MAX_BYTES`.
    """
    try:
        if source == "-":
            data = sys.stdin.buffer.read(MAX_BYTES + 1)
        else:
            with Path(source).open("rb") as file:
                data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise NothingReadError(f"{source} cannot be read ({error.strerror}); check the path.") from error
    if len(data) > MAX_BYTES:
        raise NothingReadError(
            f"The input is larger than {MAX_BYTES // 1024**2} MiB; hand in fewer findings, or use failgraph triage."
        )
    return data


def parse_match_input(data: bytes, name: str) -> MatchInput:
    """Return what was handed in as JSON.

    Args:
        data: the JSON, UTF-8.
        name: where it came from, for errors.

    Raises:
        UsageError: it is no JSON, or says what is not allowed; the text names the place as a JSON path.
    """
    from pydantic import ValidationError
    from pydantic_core import from_json

    from failgraph.schema.exchange import MatchInput

    try:
        value = from_json(data, allow_inf_nan=False)
    except ValueError as error:
        raise UsageError(
            f"{name} is no JSON ({error}); docs/schema/match-input.schema.json says what is read."
        ) from error
    try:
        return MatchInput.model_validate(value)
    except ValidationError as error:
        raise UsageError(f"{name}: {_first_problem(error.errors(include_url=False))}") from error


def _first_problem(problems: list[Any]) -> str:
    """Return one sentence for the first problem, with its JSON path."""
    problem = problems[0]
    path = "$"
    for step in problem["loc"]:
        path += f"[{step}]" if isinstance(step, int) else f".{step}"
    message = str(problem["msg"]).removeprefix("Value error, ")
    message = _PLAIN_WORDS.get(problem["type"], message[:1].lower() + message[1:])
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return f"{path}: {message}{more}; docs/schema/match-input.schema.json says what is read."
