"""Answer many counting queries over many points at once."""

from __future__ import annotations

import numpy as np

from shoal.kernels.compilation import kernel


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
