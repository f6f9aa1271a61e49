"""Codes anywhere in prose, brought to one spelling: Xid numbers, exit statuses, signals, completion and CUDA errors.

A code becomes a token such as ``xid:79`` or ``signal:9``, whichever way it was written. Which observable a code
speaks of is never listed here: the index reads the same codes out of the ids, signatures and phrases of the
catalogue. The tables below are the public numberings of Linux and libibverbs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import MappingProxyType
from typing import Final, NamedTuple


class Code(NamedTuple):
    """One code and where it stands in the text."""

    name: str
    start: int
    end: int


SIGNALS: Final = MappingProxyType(
    {
        "sighup": 1,
        "sigint": 2,
        "sigquit": 3,
        "sigill": 4,
        "sigtrap": 5,
        "sigabrt": 6,
        "sigbus": 7,
        "sigfpe": 8,
        "sigkill": 9,
        "sigusr1": 10,
        "sigsegv": 11,
        "sigusr2": 12,
        "sigpipe": 13,
        "sigalrm": 14,
        "sigterm": 15,
        "segfault": 11,
        "segfaults": 11,
        "segfaulted": 11,
        "segfaulting": 11,
    }
)
"""Signal names as Linux numbers them."""

ERRNOS: Final = MappingProxyType(
    {
        "eperm": 1,
        "enoent": 2,
        "eio": 5,
        "enxio": 6,
        "eagain": 11,
        "enomem": 12,
        "eacces": 13,
        "efault": 14,
        "ebusy": 16,
        "enodev": 19,
        "einval": 22,
        "enfile": 23,
        "emfile": 24,
        "enospc": 28,
        "erofs": 30,
        "epipe": 32,
        "enetdown": 100,
        "enetunreach": 101,
        "econnaborted": 103,
        "econnreset": 104,
        "enobufs": 105,
        "etimedout": 110,
        "econnrefused": 111,
        "ehostdown": 112,
        "ehostunreach": 113,
        "estale": 116,
        "eremoteio": 121,
        "edquot": 122,
    }
)
"""Error names of system calls as Linux numbers them."""

COMPLETIONS: Final = MappingProxyType(
    {
        "ibv_wc_loc_len_err": 1,
        "ibv_wc_loc_qp_op_err": 2,
        "ibv_wc_loc_prot_err": 4,
        "ibv_wc_wr_flush_err": 5,
        "ibv_wc_mw_bind_err": 6,
        "ibv_wc_bad_resp_err": 7,
        "ibv_wc_loc_access_err": 8,
        "ibv_wc_rem_inv_req_err": 9,
        "ibv_wc_rem_access_err": 10,
        "ibv_wc_rem_op_err": 11,
        "ibv_wc_retry_exc_err": 12,
        "ibv_wc_rnr_retry_exc_err": 13,
        "ibv_wc_rem_abort_err": 16,
        "ibv_wc_fatal_err": 19,
        "ibv_wc_resp_timeout_err": 20,
        "ibv_wc_general_err": 21,
    }
)
"""Work completion statuses as libibverbs numbers them."""

CUDA_ERRORS: Final = MappingProxyType(
    {
        "memoryallocation": 2,
        "outofmemory": 2,
        "initializationerror": 3,
        "notinitialized": 3,
        "insufficientdriver": 35,
        "devicesunavailable": 46,
        "deviceunavailable": 46,
        "nodevice": 100,
        "invaliddevice": 101,
        "nokernelimagefordevice": 209,
        "nobinaryforgpu": 209,
        "eccuncorrectable": 214,
        "peeraccessunsupported": 217,
        "invalidptx": 218,
        "nvlinkuncorrectable": 220,
        "unsupportedptxversion": 222,
        "operatingsystem": 304,
        "illegaladdress": 700,
        "launchtimeout": 702,
        "assert": 710,
        "toomanypeers": 711,
        "hardwarestackerror": 714,
        "illegalinstruction": 715,
        "misalignedaddress": 716,
        "launchfailure": 719,
        "launchfailed": 719,
        "notpermitted": 800,
        "notsupported": 801,
        "systemnotready": 802,
        "systemdrivermismatch": 803,
        "compatnotsupportedondevice": 804,
        "unknown": 999,
    }
)
"""Names of CUDA errors, without ``cudaError`` or ``CUDA_ERROR_`` in front, as the CUDA headers number them."""

# A further number belongs to the same word only when it ends there: "Xid 31 and 43 on GPU 2" names two codes,
# "Xid 31 and 8 GPUs lost" names one.
_MORE = (
    r"(?:\s{0,2}(?:,|/|&|and|or)\s{0,2}\d{1,3}\b(?=\s{0,2}(?:[,.;:)/&]|and\b|or\b|on\b|in\b|at\b|for\b|$)))*"
)

_CODE = re.compile(
    rf"""
      \bs?xid(?:s|\s(?:error|code|event|number)s?|-)?[\s:=\#]{{0,3}}
        (?:\(pci:[^)\n]{{0,24}}\)[:\s]{{0,2}})?(?P<xid>\d{{1,5}}\b{_MORE})
    | \bexit(?:\s?code|ed\swith(?:\s(?:code|status|exit\scode))?|\sstatus|code)?\s{{0,2}}[:=]?\s{{0,2}}\(?(?P<exit>-?\d{{1,3}})\b
    | \bsignal[\s:=]{{1,3}}\(?(?P<signal>\d{{1,2}})\b
    | \b(?P<signame>sig[a-z]{{3,5}}1?2?|segfault(?:s|ed|ing)?)\b
    | \b(?P<oserror>(?-i:E[A-Z]{{2,12}}))\b
    | \berrno[\s:=]{{1,3}}(?P<errno>\d{{1,3}})\b
    | \bvendor[\s_]err(?:or)?[\s:=]{{1,3}}(?P<vendor>\d{{1,3}})\b
    | \b(?P<completion>ibv_wc_[a-z_]{{3,24}})\b
    | \b(?:completion|wc|cqe?|nccl|net/ib)\b[^.\n;]{{0,30}}?\b(?:error|err|status)[\s:=]{{1,3}}(?P<status>\d{{1,2}})\b
    | \b(?:cuda|cuinit|hip)\b[^.\n;]{{0,24}}?\b(?:error|err|failure|failed|code|returns?|returned|gives|with)
        \b[\s:=(']{{1,3}}(?P<cuda>\d{{1,3}})\b
    | \b(?:error|err|code|returns?|returned|with|gives?)[\s:=(]{{1,3}}(?P<barecuda>[2-9]\d\d)\b(?!\s?(?:[gmk]i?b|ms|%))
    | \b(?:cudaError_?|CUDA_ERROR_)(?P<cudaname>[A-Za-z_]{{3,40}})\b
    | \b0x(?P<hexadecimal>[0-9a-f]{{2,16}})\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_NUMBER = re.compile(r"\d+")
_HINT = re.compile(r"\d|(?i:sig|segf|ibv_|cuda_?error)|E[A-Z]{2}")
"""No code without one of these: most phrases are passed by with this cheaper look."""


def find_codes(text: str) -> Iterator[Code]:
    """Yield the codes that the text names, in order.

    >>> [code.name for code in find_codes("Xid 31 and 43, exitcode: -9, status=12 in the completion")]
    ['xid:31', 'xid:43', 'signal:9']
    >>> [code.name for code in find_codes("Got completion with error 12, vendor err 129")]
    ['completion:12', 'vendor-error:129']
    """
    if not _HINT.search(text):
        return
    speaks_of_cuda = "cuda" in text.lower()
    for match in _CODE.finditer(text):
        kind = match.lastgroup or ""
        value = match.group(kind)
        start, end = match.span()
        if kind == "xid":
            family = "sxid" if match.group().lower().startswith("s") else "xid"
            for number in _NUMBER.findall(value):
                yield Code(f"{family}:{int(number)}", start, end)
            continue
        if kind == "barecuda" and not (speaks_of_cuda and int(value) in CUDA_ERRORS.values()):
            continue
        name = _name(kind, value.lower())
        if name:
            yield Code(name, start, end)


def _name(kind: str, value: str) -> str | None:
    """Return the one spelling of a code, or None for a word that only looks like one."""
    if kind == "exit":
        status = int(value)
        if status < 0:
            return f"signal:{-status}"
        return f"signal:{status - 128}" if 128 < status < 128 + 65 else f"exit:{status}"
    if kind == "signal":
        return f"signal:{int(value)}"
    if kind == "signame":
        return f"signal:{SIGNALS[value]}" if value in SIGNALS else None
    if kind == "oserror":
        return f"errno:{ERRNOS[value]}" if value in ERRNOS else None
    if kind == "errno":
        return f"errno:{int(value)}"
    if kind == "vendor":
        return f"vendor-error:{int(value)}"
    if kind == "completion":
        return f"completion:{COMPLETIONS[value]}" if value in COMPLETIONS else None
    if kind == "status":
        return f"completion:{int(value)}"
    if kind == "cudaname":
        number = CUDA_ERRORS.get(value.replace("_", ""))
        return f"cuda:{number}" if number else None
    if kind in ("cuda", "barecuda"):
        return f"cuda:{int(value)}"
    return f"0x{value}"
