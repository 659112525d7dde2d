"""Lines of text built a column at a time, without a loop over records."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

TEXT = pa.large_string()  # a batch of long texts may have more than 2 GB
BATCH = 1 << 16  # records that are joined at a time


def joined(parts: list[pa.Array | str], by: str = "") -> pa.Array:
    """Join texts, element by element; a plain text stands in every element."""
    texts = [pa.scalar(part, TEXT) if isinstance(part, str) else part for part in parts]
    return pc.binary_join_element_wise(*texts, pa.scalar(by, TEXT))


def content(texts: pa.Array) -> pa.Buffer:
    """The bytes of all texts, one after the other."""
    _, offset_bytes, data = texts.buffers()
    if not len(texts) or data is None:
        return pa.py_buffer(b"")
    offsets = pa.Array.from_buffers(
        pa.int64(), len(texts) + 1, [None, offset_bytes], offset=texts.offset
    )
    start, end = offsets[0].as_py(), offsets[-1].as_py()
    return data.slice(start, end - start)
