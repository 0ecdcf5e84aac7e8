"""Tokens of any tokenizer as pieces: readable, with the words that they belong to."""

import re
from codecs import getincrementaldecoder
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, groupby

from transformer.errors import InputError, quoted
from transformer.text.special_tokens import SpecialTokens
from transformer.text.tokenizer import WORD_START, Piece
from transformer.text.words import has_letter, number_words

NO_ID = -1  # id of a piece that is not a row of our embedding

_BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_BYTES = re.compile(r"(?:<0x[0-9A-Fa-f]{2}>)+")


# the characters of byte-level BPE and their bytes (Radford et al. 2019, §2.2)
_VISIBLE = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
_OTHERS = [byte for byte in range(256) if byte not in _VISIBLE]
_BYTE_OF = {chr(b): b for b in _VISIBLE} | {chr(256 + n): b for n, b in enumerate(_OTHERS)}
_MARKS = "Ġ", "Ċ"  # a space and a line break in that alphabet
_CONTROLS = {c for c, b in _BYTE_OF.items() if b == 0x7F or (b < 32 and b not in b"\t\n\r")}
_LATIN = {chr(byte): byte for byte in range(256)}  # ByT5 and Perceiver name each byte so
_JOINER = "￭"  # of OpenNMT's Tokenizer


def checked_tokens(tokens: object, owner: str) -> tuple[str, ...]:
    """Check the tokens of the text `owner` and return a tuple."""
    if isinstance(tokens, str):
        raise InputError(
            f"The tokens of the {owner} are one text, {quoted(tokens)}: give a list of its tokens."
        )
    if not isinstance(tokens, Iterable):
        raise InputError(f"The tokens of the {owner} are {quoted(tokens)}: give a list of strings.")
    texts = []
    for position, token in enumerate(tokens, start=1):
        if not isinstance(token, str):
            raise InputError(
                f"Token {position} of the {owner} is {quoted(token)} and no string: give texts, or "
                f"a tokenizer with the ids."
            )
        require_whole_characters(token, f"Token {position} of the {owner}")
        texts.append(str(token))
    return tuple(texts)


def require_whole_characters(text: str, name: str) -> None:
    """Raise InputError if a text holds half of a surrogate pair, which no file can."""
    if any(map(_is_half, text)):
        raise InputError(
            f"{name} is {quoted(text)}, which holds half a character: decode it as UTF-8."
        )


def number_positions(count: int) -> tuple[Piece, ...]:
    """Make pieces for positions without tokens, such as frames of sound, counted from 1."""
    return tuple(Piece(NO_ID, str(n + 1), n) for n in range(count))


def pieces_of(
    tokens: Sequence[str],
    special: SpecialTokens,
    vocabulary: Callable[[], Iterable[str]] = tuple,
    added: Collection[str] | None = None,
) -> tuple[Piece, ...]:
    """Spell tokens like our own pieces: a leading space is `▁`, whatever the mark was.

    Known are the marks of SentencePiece (`▁`, bytes as `<0xE2>`), of byte-level BPE (`Ġ`, or
    decoded to a space), of WordPiece (`##`), of BPE that marks a word's end (`</w>`) or what goes
    on (`@@`), and of OpenNMT (`￭` where there is no space); and a character for each byte. The part
    of a character that is cut over several tokens is written as its bytes, `<0xE2>`. Without any
    mark, each token is a word.

    `vocabulary` lists more tokens of the same tokenizer, asked for where these here have no mark;
    `added` are those of them that were added as text, None where that is not known.
    """
    ordinary = [token for token in tokens if token not in special.tokens]
    spell = _speller(ordinary, added)
    if spell is _as_words and ordinary:
        spell = _speller(vocabulary(), added)
    texts: list[str] = []
    words: list[int] = []
    for is_special, run in groupby(tokens, key=special.tokens.__contains__):
        group = [*run]
        if is_special:
            spelt, numbers = group, [*range(len(group))]
        else:
            spelt, numbers = spell(group)
        after = words[-1] + 1 if words else 0
        words += [after + number for number in numbers]
        texts += spelt
    return tuple(Piece(NO_ID, *piece) for piece in zip(texts, words, strict=True))


def join_pieces(texts: Iterable[str]) -> str:
    """Join the pieces of a word or a text: spaces as spaces, bytes as their characters."""
    text = "".join(texts).replace(WORD_START, " ")
    return _BYTES.sub(_decoded, text) if "<0x" in text else text


def text_of(pieces: Sequence[Piece], special: SpecialTokens) -> str:
    """Spell the text of the pieces; a line between parts that special tokens separate."""
    whole_words = not any(piece.text.startswith(WORD_START) for piece in pieces)
    parts = []
    for is_special, run in groupby(pieces, key=lambda piece: piece.text in special.tokens):
        if not is_special:
            words = groupby(run, key=lambda piece: piece.word)
            texts = ("".join(piece.text for piece in word) for _, word in words)
            parts.append(join_pieces([(" " if whole_words else "").join(texts)]).strip())
    return " | ".join(part for part in parts if part)


# Each speller takes the tokens between two special ones and gives their texts and words, from 0.
_Spelt = tuple[list[str], list[int]]
_Speller = Callable[[Sequence[str]], _Spelt]


def _speller(tokens: Iterable[str], added: Collection[str] | None) -> _Speller:
    """Choose the speller by the marks in these tokens, or by the text that they are as bytes."""
    some = [token for token in tokens if token not in (added or ())]
    words = sum(token.startswith(WORD_START) for token in some)
    marked = [token for token in some if token.startswith(_MARKS)]
    # a letter of “Ġorġ” is the mark of a space, but another of them is that of a control character
    spaces = sum(_BYTE_OF.keys() >= {*token} and _CONTROLS.isdisjoint(token) for token in marked)
    if spaces > max(words, len(marked) // 2) or not (words or marked or not _is_utf8(some)):
        return lambda tokens: _from_bytes([_bytes_of(token, added) for token in tokens])
    controls = any("\x80" <= token <= "\x9f" for token in some)  # which no text has
    if all(token in _LATIN for token in some) and (controls or _is_utf8(some, _LATIN)):
        codes = {True: "latin-1", False: "utf-8"}
        return lambda tokens: _from_bytes([t.encode(codes[t in _LATIN]) for t in tokens])
    if any(token.startswith((WORD_START, " ")) or _BYTES.fullmatch(token) for token in some):
        return _sentencepiece
    for mark in ("##", "</w>", "@@"):
        if any(_has_mark(token, mark) for token in some):
            return lambda tokens: _marked(tokens, mark)
    if any(token.startswith(_JOINER) or token.endswith(_JOINER) for token in some):
        return _with_joiners
    return _as_words


def _is_utf8(tokens: Iterable[str], alphabet: Mapping[str, int] = _BYTE_OF) -> bool:
    """Return whether tokens are, as bytes, a text beyond ASCII whose two ends may be cut."""
    try:
        content = bytes(alphabet[character] for token in tokens for character in token)
        begun = content.lstrip(bytes(range(0x80, 0xC0)))
        return not getincrementaldecoder("utf-8")().decode(begun).isascii()
    except (KeyError, UnicodeDecodeError):
        return False


def _bytes_of(token: str, added: Collection[str] | None) -> bytes:
    """Return the bytes that a token of byte-level BPE stands for, or those of one that is text.

    Where `added` does not tell it, a word is text if as bytes it holds a part of a character
    (“Müller”) or a control character (“Čapek”).
    """
    content = bytes(_BYTE_OF.get(character, 0) for character in token)
    text = token in (added or ()) or not _BYTE_OF.keys() >= {*token}
    if added is None and re.search("^[^ĠĊ]*[A-Za-z0-9]", token):
        whole = content.decode(errors="replace")
        text |= "\ufffd" in whole or not _CONTROLS.isdisjoint(token)
    return re.sub("^Ġ", " ", token).encode() if text else content


def _as_words(tokens: Sequence[str]) -> _Spelt:
    return [_visible(token) for token in tokens], [*range(len(tokens))]


def _sentencepiece(tokens: Sequence[str]) -> _Spelt:
    return _from_bytes(
        [
            bytes(int(byte, 16) for byte in _BYTE.findall(token))
            if _BYTES.fullmatch(token)
            else token.encode()
            for token in tokens
        ]
    )


def _with_joiners(tokens: Sequence[str]) -> _Spelt:
    """Spell tokens of OpenNMT, of which one with a joiner has no space at that side."""
    pairs = zip(tokens, ["", *tokens], strict=False)
    joins = [token.startswith(_JOINER) or last.endswith(_JOINER) for token, last in pairs]
    marks = ["" if joined else WORD_START for joined in joins]
    return _sentencepiece([m + t.strip(_JOINER) for m, t in zip(marks, tokens, strict=True)])


def _has_mark(token: str, mark: str) -> bool:
    marked = token.startswith(mark) if mark == "##" else token.endswith(mark)
    return marked and (len(token) > 2 or mark == "</w>")


def _marked(tokens: Sequence[str], mark: str) -> _Spelt:
    """Spell words whose pieces tell by a mark whether a word goes on; a space is not known."""
    marks = [_has_mark(token, mark) for token in tokens]
    if mark == "##":
        begins = [not marked for marked in marks]
    else:
        begins = [True, *(marked == (mark == "</w>") for marked in marks[:-1])]
    texts = [
        (t.removeprefix(mark) if mark == "##" else t.removesuffix(mark)) if marked else t
        for t, marked in zip(tokens, marks, strict=True)
    ]
    spelt = [
        (WORD_START if first and has_letter(text) else "") + _visible(text)
        for text, first in zip(texts, begins, strict=True)
    ]
    return spelt, [max(0, number - 1) for number in accumulate(map(int, begins))]


def _characters(tokens: Sequence[bytes]) -> Iterator[tuple[str, list[int]]]:
    """Yield the characters of a text in UTF-8, each with the number of the token of each byte."""
    owner = [number for number, token in enumerate(tokens) for _ in token]
    at = 0
    for character in b"".join(tokens).decode(errors="surrogateescape"):
        end = at + len(character.encode(errors="surrogateescape"))
        yield character, owner[at:end]
        at = end


def _from_bytes(tokens: Sequence[bytes]) -> _Spelt:
    """Spell pieces of a text in UTF-8, whose characters may be cut, and number its words."""
    spelt, line = ([""] * len(tokens) for _ in range(2))
    for character, owners in _characters(tokens):
        # the words are found in the text itself, where a character is that of its first piece
        line[owners[0]] += _SIGNS.get(character, character)
        if owners[0] == owners[-1] and not _is_half(character):
            spelt[owners[0]] += _visible(character).replace(" ", WORD_START)
        else:
            content = character.encode(errors="surrogateescape")
            for number, byte in zip(owners, content, strict=True):
                spelt[number] += f"<0x{byte:02X}>"
    for number, shown in enumerate(line):  # a line begins with a word, with a space or without
        if has_letter(shown[:1]) and (number == 0 or line[number - 1].endswith(_SIGNS["\n"])):
            spelt[number] = WORD_START + spelt[number]
    return spelt, number_words([shown.replace(WORD_START, " ") for shown in line])


def _is_half(character: str) -> bool:
    return "\ud800" <= character <= "\udfff"


# a line break, a tab, and the pictures that Unicode has of other control characters
_SIGNS = {chr(n): chr(0x2400 + n) for n in range(32)} | {"\n": "↵", "\t": "⇥", "\x7f": "␡"}


def _visible(text: str) -> str:
    return "".join(_SIGNS.get(character, character) for character in text)


def _decoded(match: re.Match[str]) -> str:
    content = bytes(int(byte, 16) for byte in _BYTE.findall(match[0]))
    try:
        return content.decode()
    except UnicodeDecodeError:
        return match[0]
