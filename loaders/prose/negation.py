"""What a statement denies, doubts or asks: negation with its scope, hedges, questions and failed attempts.

The rules are few and lean to silence: where it is not clear whether a statement says "there" or "not there", the
reader attaches nothing and the statement stays visible.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Final, NamedTuple


class Cue(Enum):
    """What a cue does to the words in its scope."""

    DENIES = "denies"
    """The words name something that is not there: "no Xid", "ECC counters clean"."""
    ATTEMPT = "attempt"
    """The words name what was tried and changed nothing: neither there nor not there."""
    SUPPOSED = "supposed"
    """The words name what may or would be, not what is."""
    ELSEWHERE = "elsewhere"
    """The words speak of a part that is not affected: "the other nodes"."""


class Scope(NamedTuple):
    """A stretch of a statement (character offsets) and what a cue says of it."""

    start: int
    end: int
    cue: Cue


# A list goes on after a comma only if an "or", "nor" or "and" closes it: "no Xid, ECC or NVLink errors".
_ITEM = r"(?:(?!(?:or|nor|and)\b)\w++[\s-]?+){1,3}+"
_LISTED = rf"(?=\s{_ITEM}(?:,\s{_ITEM}){{0,4}}+,?\s?(?:or|nor|and)\s)"
_END = (
    rf"(?=,(?!{_LISTED})|[;:()]|\.(?!\w)|\s(?:but|although|while|whereas|because|since|until|when|after|before|so|then|yet|except)"
    r"\s|$)"
)
_LIST = rf"(?:[^,;:.()]|,{_LISTED}|\.(?=\w))*?"
_FORWARD = re.compile(
    rf"""
    \b(?:
        no(?!\s(?:longer|more|matter|idea|change|difference|effect|improvement|help|one\sknows|luck|use))(?:\s(?:sign|trace|evidence|hint|record)s?\sof)?
      | none\sof | neither | nor | without(?:\sany)? | zero | never(?:\s(?:saw|seen|had|have|logged|reported))?
      | nothing\s(?:in|on|from|about) | nobody | absence\sof | free\sof | hardly\sany | not\s(?:a\s(?:single|trace\sof)|any|one|a|an|the)
      | (?:did|do|does|have|has|had|was|were|is|are|could|can)(?:\snot|n['’]?t)\s(?:see|seen|find|found|show|log|logged|report|reported|
            observe|observed|detect|detected|have|contain|list|print|get|notice|mention|raise|raised|any|a|an|the|due|because|caused)
      | not\s(?:seen|found|logged|reported|observed|detected|showing|present|due|because|caused)
      | ruled\sout | rule\sout | excluded | excludes | not\s(?:see|seeing|have|having)
      | (?:checked|looked)\sfor
    )\b{_LIST}{_END}
    """,
    re.IGNORECASE | re.VERBOSE,
)
_BACKWARD = re.compile(
    r"""
    \b(?:
        clean | normal(?:ly)? | fine | healthy | ok(?:ay)? | good | flat | unchanged | nominal | zero | false | inactive
      | none | empty | quiet | unremarkable | negative | absent | pass(?:e[sd])? | as\sexpected | in\sspec
      | (?:has\sbeen\s|been\s)?(?:ruled\sout|excluded)
      | not\s(?:there|present|seen|found|set|logged|observed|active|reported|raised|involved|the\s(?:cause|problem|issue))
      | (?:did|do|does)(?:\snot|n['’]?t)\s(?:appear|show(?:\sup)?|occur|happen|exist)
      | never\s(?:appear|appeared|seen|show|showed|fired|moved|rose|increased|occurred)
    )
    (?=\s*$|\s*(?:[,;:()]|\.(?!\d))|\s(?:on|in|at|for|during|throughout|all|everywhere|too|as|again|there|now|so|since
       |across|and|before|after|over|by|with)\b)
    | (?:[=:]\s?|\b(?:is|are|at|stays?|remains?|errors?|drops|discards|counts?|counters?|\w+_\w+)\s)(?:0|no)(?![\w.])
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""What ends a denial: "ECC counters are clean", "rx_crc is 0"; it reaches back to where its part begins."""
_PART_BEGIN = re.compile(r"[,;]\s|:\s(?=.*:)|\b(?:and|but)\s", re.IGNORECASE)
_ATTEMPT = re.compile(
    r"""
      \b(?:did|do|does|would|will)(?:\snot|n['’]?t)\s(?:really\s)?
        (?:help|change|fix|solve|cure|matter|improve|affect|make|resolve)\b
    | \bdid(?:\snot|n['’]?t)\swork\b
    | \b(?:no|any|zero|little)\s(?:change|difference|effect|improvement|help|luck|use)\b
    | \bin\svain\b | \bto\sno\savail\b | \bmade\sno\b | \bno\shelp\b | \bstill\sthe\ssame\b
    | \bwithout\s(?:effect|success|improvement|change)\b
    | \bchange[sd]?\snothing\b | \bnothing\schange[sd]\b
    | \bsame\s(?:result|error|problem|issue|behaviou?r|hang)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_SUPPOSED = re.compile(
    r"""
      ^(?:\W*(?:and|or|but|so|also)\s)?
        (?:is|are|was|could|can|should|would|does|do|did|might|may|what|why|how|whether|any|anyone|has\sanyone)\s
        (?:it|this|that|there|we|i|the|a|an|be|if|about|idea|one|anyone|else|someone|to)\b
    | \b(?:what\sif|whether|wonder(?:ing)?\sif|not\ssure\s(?:if|whether)|as\sif|in\scase|is\sit\spossible
        |could\sthis\sbe|could\sit\sbe|should\swe|do\swe\sneed|any\sidea|expected\sto|supposed\sto|would\shave
        |would\sexpect)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_ELSEWHERE = re.compile(
    r"""
      (?<!than\s)(?<!than\sthe\s)(?<!from\s)(?<!from\sthe\s)(?<!unlike\s)(?<!unlike\sthe\s)(?<!vs\s)(?<!vs\sthe\s)
      \b(?:the\s)?(?:others?|another|remaining|rest\sof(?:\sthe)?|neighbou?r(?:ing|s)?|healthy|good|old|older|previous)\s
        (?:\w+\s){0,2}?
        (?:nodes?|hosts?|machines?|servers?|gpus?|cards?|ranks?|jobs?|clusters?|runs?|users?|pods?|ports?|links?|racks?
          |rails?|switches|nics?|hcas?|box(?:es)?|instances?|partitions?|teams?|versions?|types?|models?|images?)\b
    | \b(?:elsewhere|(?<!than\s)the\sothers|all\sothers)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_HEDGES: Final = (
    (
        re.compile(
            r"\b(?:suspect|assum|guess|blam|theory|suspicion|hunch|thought|believ|speculat)\w*\b",
            re.IGNORECASE,
        ),
        0.45,
    ),
    (
        re.compile(
            r"\b(?:maybe|perhaps|possibly|might|may\sbe|could\sbe|potentially|presumably|unclear|not\ssure|apparently)\b",
            re.IGNORECASE,
        ),
        0.55,
    ),
    (
        re.compile(
            r"\b(?:probably|likely|seems?\sto|looks?\slike|appears?\sto|(?:i|we)\sthink|feels\slike|as\sfar\sas"
            r"|sort\sof|kind\sof)\b",
            re.IGNORECASE,
        ),
        0.8,
    ),
)
"""What a hedge leaves of the confidence: the strongest one counts."""

_CUE = re.compile(
    r"\b(?:no|not|none|nothing|nobody|neither|nor|never|without|zero|absence|free|hardly|any|little|ruled?|exclude[sd]|"
    r"checked|looked|clean|normal(?:ly)?|fine|healthy|ok|okay|good|flat|unchanged|nominal|false|inactive|0|empty|as|in|quiet|"
    r"unremarkable|pass(?:e[sd])?|negative|absent|vain|same|help|other|others|another|remaining|rest|neighbou?r\w*|old|older|"
    r"previous|elsewhere|change[sd]?|nothing|is|are|was|could|can|should|would|does|do|did|might|may|what|why|how|which|whether|"
    r"where|anyone|has|wonder(?:ing)?|expected|supposed)\b|n['’]?t\b",
    re.IGNORECASE,
)
"""Some word of every rule above and below: a text without any is passed by with this cheaper look."""


def find_scopes(text: str) -> list[Scope]:
    """Return the stretches of a statement that a cue speaks of, in order of their start.

    >>> [(text[s.start:s.end], s.cue.value) for text in ["dmesg has no Xid, link is up"] for s in find_scopes(text)]
    [('no Xid', 'denies')]
    """
    if not _CUE.search(text):
        return []
    scopes = []
    if _ATTEMPT.search(text):
        scopes.append(Scope(0, len(text), Cue.ATTEMPT))
    if _SUPPOSED.search(text):
        scopes.append(Scope(0, len(text), Cue.SUPPOSED))
    scopes.extend(Scope(match.start(), match.end(), Cue.DENIES) for match in _FORWARD.finditer(text))
    for match in _BACKWARD.finditer(text):
        begins = [begin.end() for begin in _PART_BEGIN.finditer(text, 0, match.start())]
        scopes.append(Scope(begins[-1] if begins else 0, match.end(), Cue.DENIES))
    scopes.extend(Scope(match.start(), match.end(), Cue.ELSEWHERE) for match in _ELSEWHERE.finditer(text))
    return sorted(scopes, key=lambda scope: (scope.start, scope.end))


def certainty(text: str) -> float:
    """Return what a hedge leaves of a statement's confidence: 1 without one.

    >>> certainty("maybe the cable"), certainty("the cable is broken")
    (0.55, 1.0)
    """
    return min((factor for pattern, factor in _HEDGES if pattern.search(text)), default=1.0)
