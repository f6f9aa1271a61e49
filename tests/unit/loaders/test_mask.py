"""Secrets are hidden before text is stored; what only looks like one stays readable."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from failgraph.loaders.mask import LONGEST_QUOTE, mask, plain, quote


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("password=hunter2 next", "password=[masked: secret] next"),
        ("password=12345678", "password=[masked: secret]"),
        ('{"db_password": "a b c", "x": 1}', '{"db_password": [masked: secret], "x": 1}'),
        ("MASTER_PASSWD: s3cret!", "MASTER_PASSWD: [masked: secret]"),
        ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG", "aws_secret_access_key = [masked: secret]"),
        ("WANDB_API_KEY=0123456789abcdef0123456789abcdef01234567", "WANDB_API_KEY=[masked: secret]"),
        ("train.py --hf-token abcdef123 --lr 1", "train.py --hf-token [masked: secret] --lr 1"),
        ("Authorization: Bearer abc.def-ghi", "Authorization: Bearer [masked: token]"),
        ("curl -H 'authorization: token abcdefghijkl'", "curl -H 'authorization: token [masked: token]'"),
        ("s3://user:pa55word@bucket/x", "s3://user:[masked: password]@bucket/x"),
        ("redis://:pa55word@host", "redis://:[masked: password]@host"),
        ("id AKIAIOSFODNN7EXAMPLE used", "id [masked: key] used"),
        ("got ghp_abcdefghijklmnopqrstuvwxyz0123456789", "got [masked: token]"),
        ("github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz", "[masked: token]"),
        ("glpat-abcdefghijklmnopqrst", "[masked: token]"),
        ("login hf_abcdefghijklmnopqrstuvwxyz", "login [masked: token]"),
        ("sk-proj-abcdEFGH1234567890abcd", "[masked: key]"),
        ("xoxb-123456789012-abcdefghijkl", "[masked: token]"),
        ("nvapi-abcdefghijklmnopqrstuvwxyz", "[masked: token]"),
        ("jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3", "jwt [masked: token]"),
        (
            "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nrest",
            "[masked: private key]\nrest",
        ),
        ("-----BEGIN OPENSSH PRIVATE KEY----- b3BlbnNz", "[masked: private key]"),
        ("mail jane.doe+x@mail.example.com now", "mail [masked: e-mail] now"),
        ("From: jane@example.com: hello", "From: [masked: e-mail]: hello"),
    ],
)
def test_secret_is_hidden(text: str, expected: str) -> None:
    """What looks like a secret is replaced by what it was."""
    assert expected == mask(text)


@pytest.mark.parametrize(
    "text",
    [
        "NVRM: Xid (PCI:0000:52:00): 79, pid=771203, name=python3, GPU has fallen off the bus.",
        "GPU-3f1c0a77-9d1e-4b52-8c60-5a1de0b7c411",
        "commit 8f14e45fceea167a5a36dedd4bea25438f14e45f",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "commId 0x27a079b828ff1a75 rank 136 nranks 512",
        "_BOOT_ID=5d0d8a4a9a6d4d0f8e3b1e9d7c6b5a40",
        "Reason=Kill task failed [root@2026-02-22T16:27:41]",
        "Linux version 6.8.0-45-generic (buildd@lcy02-amd64-059) (gcc",
        "git clone git@github.com:org/repo.git",
        "max_tokens: 4096, tokens=131072, tokenizer: LlamaTokenizer",
        "token: 12345 of 99999",
        "The provided token has expired",
        "ExpiredToken: the token is not valid",
        "error: secret not found",
        "HF_TOKEN=$HF_TOKEN",
        "password: <hidden>",
        "192.0.2.17:51161 and fe80::1ff:fe23:4567:890a",
        "task-0123456789abcdefgh of disk-0000000000000000000",
        "http://example.com:8080/path@v2",
        "signal: 11, sig=11",
    ],
)
def test_near_miss_stays(text: str) -> None:
    """Hashes, addresses, ids and ordinary words stay as they are."""
    assert text == mask(text)


@given(st.text(max_size=300))
@settings(max_examples=200, deadline=None, database=None)
def test_masking_twice_changes_nothing(text: str) -> None:
    """What was masked once is not masked again."""
    assert mask(text) == mask(mask(text))


@pytest.mark.parametrize(
    "piece",
    ["a", "password", "token=", "@.", "eyJ", '"', "a.b@", "--token ", "-----BEGIN PRIVATE KEY-----", "://:"],
)
def test_hostile_text_costs_little(piece: str) -> None:
    """No text makes masking slow."""
    text = (piece * 70_000)[:16_384]
    start = time.perf_counter()
    mask(text)

    assert time.perf_counter() - start < 2.0


def test_quote_is_clean_masked_and_short() -> None:
    """A quote has no controls, no secrets and a bounded length."""
    text = "\x1b[31mERROR\x1b[0m\tpassword=hunter2 \u202ebidi\u2069 " + "x" * 1000

    shown = quote(text)
    assert shown.startswith("ERROR password=[masked: secret] bidi xxx")
    assert LONGEST_QUOTE == len(shown)
    assert shown.endswith("…")


def test_quote_keeps_what_was_found() -> None:
    """In a long line the part around the finding is shown, and a secret before it is masked whole."""
    text = "password=" + "s" * 700 + " " + "y" * 2000 + " NEEDLE in hay " + "z" * 2000
    place = text.index("NEEDLE")

    shown = quote(text, (place, place + 6))
    assert "NEEDLE in hay" in shown
    assert shown.startswith("…")
    assert len(shown) <= LONGEST_QUOTE
    assert "sss" not in quote(text, (5, 8))


def test_plain_text_is_one_line() -> None:
    """Line breaks and tabs become blanks, invisible characters vanish."""
    assert "a b c" == plain("a\nb\tc\x00\x07\ufeff")
