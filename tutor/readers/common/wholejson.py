"""A file that is one value of JSON, or an object a line, whose end may be missing: what is whole is kept."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tutor import packed
from tutor.run import Remark, Run

_SIGN = re.compile(r'"(?:[^"\\]|\\.)*"|["\[\]{},]', re.DOTALL)
_CLOSES = {"[": "]", "{": "}"}
_ROWS = 2  # levels above a row: the table, and the object that names it
_GROUPS = 5  # levels of objects above a list of numbers


_PYTHON = re.compile(rb"\s*(?:\[\s*)?\{\s*'")
_WRAPPED = re.compile(
    rb"\b(?:tensor|array|(?:np\.|numpy\.)?float[0-9]{2})\(([^()]*?)(?:,\s*[a-z]+=[^()]*)?\)"
)
_WORDS = re.compile(rb"\b(?:nan|inf|None|True|False)\b")
_SAID = {b"nan": b"NaN", b"inf": b"Infinity", b"None": b"null", b"True": b"true", b"False": b"false"}


_NAME = rb"^\s*([A-Za-z_][A-Za-z0-9_ .-]{0,60}?)[ \t]*[:=][ \t]*"
_LIST = re.compile(_NAME + rb"(?=\[\s*[-+0-9.n])", re.MULTILINE)
_LIST_OR_NUMBER = re.compile(
    _NAME + rb"(?=\[\s*[-+0-9.n]|-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?[ \t\r]*$)", re.MULTILINE
)


_HEADED = re.compile(rb"([A-Za-z][A-Za-z0-9_ .-]{0,60}):")
_VALUE = re.compile(
    rb"[-+]?(?:nan|inf(?:inity)?|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]+)?)", re.IGNORECASE
)
_SECTIONS = 2  # at least: below one name stands a table of one column


_BLOCK = re.compile(rb"^\{[ \t]*\r?\n((?:[ \t][^\n]*\n)+)\}", re.MULTILINE)
_LAST_COMMA = re.compile(rb",\s*\Z")
_RETURNS = 3  # objects over several lines, which a document that quotes one hasn't


def as_json(data: bytes) -> bytes:
    """The data; of what Python prints, what it is in JSON.

    Of a dictionary, `{'loss': [2.5, nan]}`, or a list of such, of lists by name, `train_loss = [2.5, nan]` a
    line or one value a line below each name, and of objects one after another, over several lines each as
    `jq` or an indented `json.dumps` writes them.
    """
    if len(blocks := [*_BLOCK.finditer(data)]) >= _RETURNS:
        rows = b",".join(b"{%s}" % _LAST_COMMA.sub(b"", block[1]) for block in blocks)
        rest = data[blocks[-1].end() :].lstrip()
        data = b"[" + rows + (b"," + rest if rest.startswith(b"{") else b"]")  # its end may be missing
    elif _LIST.match(data):
        data = _named(data)
    elif lists := in_sections(data):
        data = _named(b"\n".join(b"%s = [%s]" % (name, b",".join(values)) for name, values in lists))
    elif _PYTHON.match(data) and b'"' not in data:
        data = data.replace(b"'", b'"')
    else:
        return data
    return _WORDS.sub(lambda word: _SAID[word[0]], _WRAPPED.sub(rb"\1", data))


def in_sections(data: bytes) -> list[tuple[bytes, list[bytes]]]:
    """The lists of a file with a value a line below two names or more, `Train loss:`; [] where it is none.

    Each line is a name, a value or blank: of one that says anything else nothing would be kept.
    """
    lists: list[tuple[bytes, list[bytes]]] = []
    for line in map(bytes.strip, data.splitlines()):
        if found := _HEADED.fullmatch(line):
            lists.append((found[1], []))
        elif line and not (lists and _VALUE.fullmatch(line)):
            return []
        elif line:
            lists[-1][1].append(_in_json(line))
    lists = [one for one in lists if one[1]]
    return lists if len(lists) >= _SECTIONS else []


def _in_json(value: bytes) -> bytes:
    """A value as Python prints it: JSON knows no `+1`, no `.5` and no `1.`."""
    return repr(float(value)).encode()


def _named(data: bytes) -> bytes:
    """Lists by name, a line each, as an object; of a name that comes again the place tells which it is."""
    seen = Counter[bytes]()

    def key(found: re.Match[bytes]) -> bytes:
        name = found[1]
        seen[name] += 1
        return b',"%s": ' % (name if seen[name] == 1 else b"%s %d" % (name, seen[name]))

    return b"{" + _LIST_OR_NUMBER.sub(key, data).lstrip(b",") + b"}"


def load(path: Path, most: int) -> tuple[object, bool]:
    """What the file says, and whether its end is missing: then as far as its last whole row.

    Of objects, one a line, it is the list.

    Args:
        path: the file.
        most: bytes of one that is packed, unpacked.

    Raises:
        ValueError: it is broken otherwise, or nothing in it is whole.
        RecursionError: it is nested too deep.
        OSError: it can't be opened.
    """
    data = as_json(packed.read(path, most)[0])
    try:
        return json.loads(data), False
    except ValueError:
        text = data.decode("utf-8-sig", "replace")
        rows, cut = _objects(text)
        return (rows, cut) if len(rows) > 1 else (json.loads(_closed(text)), True)


def _objects(text: str) -> tuple[list[object], bool]:
    """The lines as objects, up to the first that is none, and whether there is such a one."""
    rows: list[object] = []
    for line in filter(str.strip, text.splitlines()):
        try:
            row = json.loads(line)
        except ValueError:
            return rows, True
        if not isinstance(row, dict):
            return rows, True
        rows.append(row)
    return rows, False


def _closed(text: str) -> str:
    """The text up to its last whole row, with what was open there closed; "" where it isn't merely cut."""
    open_: list[str] = []
    end, closing = 0, ""
    for found in _SIGN.finditer(text):
        sign = found[0]
        if sign == '"':  # a string without end
            break
        if sign in _CLOSES:
            open_.append(_CLOSES[sign])
        elif sign == ",":
            if _parts(open_):
                end, closing = found.start(), "".join(reversed(open_))
        elif sign in _CLOSES.values():
            if not open_ or open_.pop() != sign or not open_:
                return ""
            if _parts(open_):
                end, closing = found.end(), "".join(reversed(open_))
    return text[:end] + closing


def _parts(open_: Sequence[str]) -> bool:
    """Whether what stands there is whole by itself: a row of a table, or a number of a list in groups."""
    return len(open_) <= _ROWS or (len(open_) <= _GROUPS and "]" not in open_[:-1])


def cut_off(run: Run) -> Run:
    """The run, with the remark that its log ends early."""
    remark = Remark("cut_off", {"step": int(run.steps[-1])}, unseen=True)
    return replace(run, remarks=(*run.remarks, remark))
