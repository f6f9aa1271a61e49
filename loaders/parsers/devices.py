"""Finds the device that a line is about, as it prints it."""

from __future__ import annotations

import re
from typing import Final

_LOOKED_AT: Final = 400
_XID: Final = re.compile(r"S?Xid \((?:PCI:)?([0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}(?:\.[0-7])?)")
_PCI: Final = re.compile(
    r"(?<![0-9a-zA-Z:.])([0-9a-fA-F]{4}(?:[0-9a-fA-F]{4})?:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}(?:\.[0-7])?)(?![0-9a-zA-Z]|:[0-9a-fA-F])"
)
_NAMED: Final = re.compile(
    r"(?<![\w/.-])(mlx5_(?:bond_)?\d+|nvidia-nvswitch\d+|nvme\d+(?:n\d+)?|ibp?\d+\w*|bond\d+|eth\d+|en[ops]\d\w+|md\d+|sd[a-z]{1,2})"
    r"(?![\w-])"
)


def device_in(text: str) -> str | None:
    """Return the PCI address or else the first interface or drive that a text names.

    >>> device_in("NVRM: Xid (PCI:0000:52:00): 79, GPU has fallen off the bus.")
    '0000:52:00'
    >>> device_in("nvme nvme4: controller is down")
    'nvme4'
    """
    text = text[:_LOOKED_AT]
    match = _XID.search(text) or _PCI.search(text) or _NAMED.search(text)
    return match[1] if match is not None else None
