"""Tables from files and back: CSV, JSON lines, Parquet and Excel, by suffix."""

from shoal.io.files import holding_problems, open_file, read, read_texts, write, write_text
from shoal.io.formulas import formula_columns, formula_problems
from shoal.io.header import BelowTitles, check_header
from shoal.io.options import option_problems
from shoal.io.places import output_problems, place_problems, space_problems
from shoal.io.text import guess_encoding
from shoal.io.totals import TotalBelow

__all__ = [
    "BelowTitles",
    "TotalBelow",
    "check_header",
    "formula_columns",
    "formula_problems",
    "guess_encoding",
    "holding_problems",
    "open_file",
    "option_problems",
    "output_problems",
    "place_problems",
    "read",
    "read_texts",
    "space_problems",
    "write",
    "write_text",
]
