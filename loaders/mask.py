"""Hides secrets before text is stored, printed or sent: tokens, passwords, keys and e-mail addresses.

What looks like a secret is replaced by ``[masked: kind]``. The expressions are bounded and free of nested
repetition, so their time grows with the text only; hashes, UUIDs, PCI addresses and commit ids stay readable.
"""

from __future__ import annotations

import re
from typing import Final

LONGEST_QUOTE: Final = 300
"""Quotes are shortened to this many characters."""

_CONTEXT: Final = 4096  # a secret that begins further away than this is not recognised

_KEYWORD: Final = (
    r"(?:password|passwd|passphrase|pwd|secret|secret_?key|client_?secret|api_?key|apikey|access_?key(?:_id)?|private_?key"
    r"|auth_?token|access_?token|refresh_?token|session_?token|token|credentials?|wandb_api_key|hf_token|sas_?token|sig)"
)
_RULES: Final = (
    ("token", re.compile(r"\beyJ[A-Za-z0-9_-]{8,4096}\.[A-Za-z0-9_-]{8,4096}(?:\.[A-Za-z0-9_-]{0,4096})?")),
    ("key", re.compile(r"\b(?:AKIA|ASIA|ABIA|ACCA|AGPA|AIDA|AIPA|ANPA|AROA|ASCA)[A-Z0-9]{16}\b")),
    ("key", re.compile(r"\bAIza[0-9A-Za-z_-]{35}(?![0-9A-Za-z_-])")),
    (
        "token",
        re.compile(
            r"\b(?:gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_[A-Za-z0-9_]{20,255}|glpat-[A-Za-z0-9_-]{20,255})"
        ),
    ),
    ("token", re.compile(r"\bhf_[A-Za-z0-9]{20,255}\b")),
    ("key", re.compile(r"\b(?:sk|pk|rk)[-_](?:[a-z]{2,12}[-_]){0,3}[A-Za-z0-9_-]{16,255}")),
    ("token", re.compile(r"\bxox[abeoprs]-[A-Za-z0-9-]{10,255}")),
    (
        "token",
        re.compile(
            r"\b(?:npm_[A-Za-z0-9]{30,255}|pypi-[A-Za-z0-9_-]{30,255}|dop_v1_[a-f0-9]{64}|nvapi-[A-Za-z0-9_-]{20,255})"
        ),
    ),
)
_KEY_BEGIN: Final = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----")
_KEY_END: Final = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----")
_LONGEST_KEY: Final = 8192
_URL_PASSWORD: Final = re.compile(
    r"(?P<head>\b[a-zA-Z][a-zA-Z0-9+.-]{1,20}://[^\s/:@?#]{0,128}:)[^\s/@]{1,256}(?=@)"
)
_BEARER: Final = re.compile(
    r"(?P<head>\b(?:authorization|proxy-authorization)[\"']?\s{0,4}[:=]\s{0,4}[\"']?(?:(?:bearer|basic|token|digest)\s{1,4})?"
    r"|\bbearer\s{1,4})[A-Za-z0-9._~+/=-]{8,4096}",
    re.IGNORECASE,
)
_ASSIGNED: Final = re.compile(
    rf"(?P<head>(?<![A-Za-z0-9_-])[A-Za-z0-9_-]{{0,100}}?{_KEYWORD}[\"']?\s{{0,4}}(?:=|:(?!:))\s{{0,4}})"
    r"(?P<value>\"[^\"\n]{1,8192}\"|'[^'\n]{1,8192}'|[^\s\"',;&)\]}]{3,8192})",
    re.IGNORECASE,
)
_OPTION: Final = re.compile(
    rf"(?P<head>(?<!\S)--?[A-Za-z0-9_-]{{0,40}}?{_KEYWORD}\s{{1,4}})(?P<value>\"[^\"\n]{{1,8192}}\"|'[^'\n]{{1,8192}}'|[^\s-]\S{{2,8191}})",
    re.IGNORECASE,
)
_MAIL: Final = re.compile(
    r"(?<![A-Za-z0-9._%+-])(?!git@)[A-Za-z0-9][A-Za-z0-9._%+-]{0,63}@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,6}[A-Za-z]{2,24}\b"
)

# Values after "token:" or "key =" that are no secrets: flags, placeholders, words of a sentence.
_HARMLESS: Final = re.compile(
    r"[\"']?(?:true|false|yes|no|none|null|nil|n/?a|unset|empty|missing|expired|invalid|required|failed|denied|error"
    r"|not|is|was|the|and|or|for|in|of|<[^>\n]{0,64}>|\$\{?\w{1,64}\}?|\*{2,}|x{3,}|\.{3}|\[masked: \w[\w ]*\]?)[\"']?",
    re.IGNORECASE,
)
# "max_token: 4096" counts, "password: 4096" does not.
_COUNTED: Final = re.compile(r".*(?:token|sig)[\"']?\s*[=:]?\s*", re.IGNORECASE | re.DOTALL)
_NUMBER: Final = re.compile(r"[\"']?\d[\d.,:/x-]*[a-zA-Z%]{0,6}[\"']?")
_CONTROL: Final = re.compile(
    r"\x1b\[[0-9;:?<=>]{0,64}[ -/]{0,4}[@-~]|[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]"
)


def mask(text: str) -> str:
    """Return the text with everything that looks like a secret or an e-mail address hidden.

    >>> mask("export HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz012345")
    'export HF_TOKEN=[masked: secret]'
    >>> mask("NVRM: Xid (PCI:0000:52:00): 79, GPU has fallen off the bus.")
    'NVRM: Xid (PCI:0000:52:00): 79, GPU has fallen off the bus.'
    """
    text = _without_private_keys(text)
    text = _URL_PASSWORD.sub(r"\g<head>[masked: password]", text)
    text = _BEARER.sub(r"\g<head>[masked: token]", text)
    text = _ASSIGNED.sub(_assigned, text)
    text = _OPTION.sub(_assigned, text)
    for name, rule in _RULES:
        text = rule.sub(f"[masked: {name}]", text)
    return _MAIL.sub("[masked: e-mail]", text)


def _without_private_keys(text: str) -> str:
    """Hide a key up to its end; where the end is missing, up to the end of the line."""
    parts: list[str] = []
    done = 0
    while (begin := _KEY_BEGIN.search(text, done)) is not None:
        end = text.find("-----END", begin.end(), begin.end() + _LONGEST_KEY)
        closing = _KEY_END.match(text, end) if end >= 0 else None
        line_end = text.find("\n", begin.end())
        parts += [text[done : begin.start()], "[masked: private key]"]
        done = closing.end() if closing is not None else (len(text) if line_end < 0 else line_end)
    return "".join([*parts, text[done:]])


def _assigned(match: re.Match[str]) -> str:
    head, value = match["head"], match["value"]
    if _HARMLESS.fullmatch(value) or (_NUMBER.fullmatch(value) and _COUNTED.fullmatch(head)):
        return match[0]
    return f"{head}[masked: secret]"


def quote(text: str, around: tuple[int, int] = (0, 0)) -> str:
    """Return a line as it may be stored: without control characters, masked and shortened.

    Args:
        text: the line.
        around: start and end of the part that must be kept when the line is long.
    """
    start = max(0, around[0] - LONGEST_QUOTE // 3) if around[1] > LONGEST_QUOTE else 0
    begin = max(0, start - _CONTEXT)
    # Mask before shortening, or a secret cut in two would no longer look like one.
    masked = mask(plain(text[begin : start + 2 * _CONTEXT]))
    shown = masked.strip()
    if start:
        shown = "…" + masked[len(mask(plain(text[begin:start]))) :].strip()
    return shown if len(shown) <= LONGEST_QUOTE else shown[: LONGEST_QUOTE - 1].rstrip() + "…"


def plain(text: str) -> str:
    """Return text without terminal controls, line breaks and invisible characters."""
    return printable(text.replace("\t", " ").replace("\n", " "))


def printable(text: str) -> str:
    """Return text without terminal controls and invisible characters; lines stay."""
    return _CONTROL.sub("", text)
