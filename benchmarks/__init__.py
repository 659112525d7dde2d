"""Speed and loss, measured: `python -m benchmarks` lists what there is, CONTRIBUTING.md says how to add one."""
