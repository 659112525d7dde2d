"""GT10 §9, left open there: do pmi releases train better classifiers and keep more rules than lm and mi ones?"""

from __future__ import annotations

from benchmarks.papers.conjecture.association import rules
from benchmarks.papers.conjecture.classifiers import diverse, plain, shares_of_mi, tables, tests
from benchmarks.papers.conjecture.mechanism import certificates, encodings, mask

RESULTS = {
    "certificates": certificates,
    "classifiers": plain,
    "diverse": diverse,
    "tests": tests,
    "tables": tables,
    "w": shares_of_mi,
    "mask": mask,
    "encodings": encodings,
    "rules": rules,
}
