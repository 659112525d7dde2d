"""The inner loops, compiled by Numba: arrays in, arrays out. It must not know anything else of the package: it sees
columns in three forms, and no model or measure by name.

Shapes in comments: n records, r quasi-identifiers (columns), m some records. *Points* are distinct combinations of
quasi-identifier values; `weights` says how many records each of them stands for. *Classes* are the sensitive values
by which costs differ (a single class for most measures). *Tallies* are the sensitive columns that requirements
count.

A letter has the same meaning in all kernels:

- `c` the compiled columns (`forms.Compiled`); `q` the compiled requirement (`rules.Rules`).
- `s` a partition in the making (`state.State`); `x` a local search (`search.Search`), which holds c, q and s.
- `i` a record, or a point in kernels that know no records; `p` a point; `m` a member on the way through a group.
- `g`, `h` groups, or the two sides of a split; `a`, `b` two things of one kind: groups, nodes, ends of a range, rivals.
- `j` a column; `e` an entry of a column in the flat arrays of `Compiled`; `t` a tally; `v` a sensitive value or a
  code.
- `y`, `z` classes.
- `k` the least size of a group, `n` and `r` as above; `f` a frame of a stack.

Everything else has a word: `reach`, `walk`, `trees`, `rungs`, `cover`, `candidates`, `pool`, `lattice`, `buffers`.
`scratch` arrays only save allocations: what they hold before a call does not matter unless the docstring says so.
"""
