"""Kernels that answer queries over a release, and count which records its closures may stand for."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from shoal.kernels.compile.jit import allocating, kernel
from shoal.kernels.shared.forms import BITS, RANGE, TREE

WORD = 63  # points per int64 word of bits; the sign bit stays unused
BLOCK = 32 * WORD  # points handled at a time, to bound memory


def weigh_compatible(c, closures, sizes, points, weights):
    """Return the number of records inside each closure, and for each point the released records that may be its own.

    sizes[g] released records have closure g; `points` are the codes of the points, `weights` their numbers of
    records.
    """
    column, first, rows = [], [], []
    for j, (low, high) in enumerate(pairwise(c.slot)):
        _, found, row = np.unique(
            closures[low:high], axis=1, return_index=True, return_inverse=True
        )
        rows.append(len(first) + row.reshape(-1))
        first.extend(found)
        column.extend([j] * found.size)
    kinds, rows = (np.array(column), np.array(first)), np.stack(rows, axis=1)
    of_closure, of_point = np.zeros(sizes.size, np.int64), np.zeros(weights.size, np.int64)
    for start in range(0, weights.size, BLOCK):
        block = slice(start, start + BLOCK)
        bits = list_inside(c, closures, *kinds, points[block])
        add_inside(bits, rows, sizes, weights[block], of_closure, of_point[block])
    return of_closure, of_point


@allocating
def mark_codes(c, j, closures, g):
    """Return whether column j of closure g holds each code: bool[entries of the column]."""
    first, start, stop = c.slot[j], c.start[j], c.start[j + 1]
    holds = np.zeros(stop - start, np.bool_)
    if c.form[j] == TREE:
        parent, node = c.parent[start:stop], closures[first, g]
        holds[node] = True
        for code in range(node - 1, -1, -1):  # parents have higher ids
            holds[code] = holds[parent[code]]
    elif c.form[j] == RANGE:
        holds[closures[first, g] : closures[first + 1, g] + 1] = True
    else:
        for code in range(holds.size):
            holds[code] = closures[first + code // BITS, g] >> (code % BITS) & 1
    return holds


@kernel
def list_inside(c, closures, column, first, points):
    """Return a row of bits for each column closure: which of the points it covers.

    Row i is about column column[i] of closure first[i]. Bit b of word w is point w · WORD + b.
    """
    bits = np.zeros((first.size, (points.shape[0] - 1) // WORD + 1), np.int64)
    columns = points.T.copy()
    for row in range(first.size):
        holds, codes = mark_codes(c, column[row], closures, first[row]), columns[column[row]]
        for i in range(codes.size):
            bits[row, i // WORD] |= np.int64(holds[codes[i]]) << (i % WORD)
    return bits


@kernel
def add_inside(bits, rows, sizes, weights, of_closure, of_point):
    """Add the weights of the points inside each closure to `of_closure`, and the closure's size to `of_point`.

    rows[g, j] is the row of `bits` for column j of closure g.
    """
    for g in range(sizes.size):
        for at in range(bits.shape[1]):
            word = bits[rows[g, 0], at]
            for j in range(1, rows.shape[1]):
                word &= bits[rows[g, j], at]
            i = at * WORD
            while word:
                if word & 1:
                    of_closure[g] += weights[i]
                    of_point[i] += sizes[g]
                word >>= 1
                i += 1


@kernel
def add_answers(shares, start, places, weights, answers):
    """Add to each answer the weights of all points times the shares of them that meet the query's conditions.

    shares[start[j] + places[p, j], query] is the share of point p that meets the query's condition in column j.
    Queries lie side by side, so that the inner loops vectorise.
    """
    product = np.empty(answers.size)
    for p in range(weights.size):
        product[:] = weights[p]
        for j in range(places.shape[1]):
            product *= shares[start[j] + places[p, j]]
        answers += product


@kernel
def add_exactly(meets, start, points, order, first, weights, answers):
    """Add to each answer the weights of the points that meet the query's condition in every column.

    meets[start[j] + code, query] says whether a code of column j meets the query's condition. order[j] lists the
    points by their code in column j, those with a given code from first[start[j] + j + code] on; so each query
    looks only at the points that meet its narrowest condition.
    """
    columns = start.size - 1
    for query in range(answers.size):
        narrow, least = 0, weights.size + 1
        for j in range(columns):
            found = 0
            for code in range(start[j + 1] - start[j]):
                if meets[start[j] + code, query]:
                    at = start[j] + j + code
                    found += first[at + 1] - first[at]
            if found < least:
                narrow, least = j, found
        for code in range(start[narrow + 1] - start[narrow]):
            if not meets[start[narrow] + code, query]:
                continue
            at = start[narrow] + narrow + code
            for i in range(first[at], first[at + 1]):
                p = order[narrow, i]
                inside = True
                for j in range(columns):
                    if not meets[start[j] + points[p, j], query]:
                        inside = False
                        break
                if inside:
                    answers[query] += weights[p]
