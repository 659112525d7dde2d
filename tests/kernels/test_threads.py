"""Runs in several threads neither disturb each other nor hold up other threads."""

from __future__ import annotations

import pkgutil
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from threading import Event, Thread

import in_order
import pytest
from compiled import needs_jit
from numba import njit
from numba.core.dispatcher import Dispatcher

import shoal
from shoal import kernels
from shoal.kernels.compile.jit import kernel

pytestmark = needs_jit

METHODS = ("auto", "mondrian", "incognito")


def released(method: str, seed: int) -> tuple[object, ...]:
    table = shoal.samples.adult().slice(400 * seed, 400)
    release = in_order.anonymize(
        table,
        settings=shoal.samples.adult_settings(),
        k=5,
        method=method,
        seed=seed,
        order_seed=seed,
    )
    return release.data, release.groups.tolist(), release.loss()


def test_threads_make_the_releases_that_one_thread_makes_one_after_the_other() -> None:
    jobs = [(method, seed) for method in METHODS for seed in range(3)]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(lambda job: released(*job), jobs))
    assert together == [released(*job) for job in jobs]


def spin(rounds):
    total = 0
    for i in range(rounds):
        total ^= i * total + i
    return total


@pytest.fixture
def no_forced_switch() -> Iterator[None]:
    """Threads give up the interpreter only where they wait or say so."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1000.0)
    yield
    sys.setswitchinterval(before)


def steps_of_another_thread_during(work: Callable[[], object]) -> int:
    """How many steps another thread makes between begin and end of a call."""
    steps, done = [0], Event()

    def other() -> None:
        while not done.is_set():
            steps[0] += 1
            time.sleep(0.001)  # gives up the interpreter

    thread = Thread(target=other)
    thread.start()
    before = steps[0]
    work()
    after = steps[0]
    done.set()
    thread.join()
    return after - before


@pytest.mark.usefixtures("no_forced_switch")
def test_other_threads_run_while_a_kernel_does() -> None:
    for compiled, runs in ((kernel(spin), True), (njit(spin), False)):
        compiled(1)  # compiled before the other thread starts
        made = steps_of_another_thread_during(lambda work=compiled: work(300_000_000))
        assert (made > 0) is runs


def test_all_that_python_calls_of_kernels_lets_other_threads_run() -> None:
    modules = [
        import_module(m.name) for m in pkgutil.walk_packages(kernels.__path__, "shoal.kernels.")
    ]
    found = {
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, Dispatcher)
        and not {"no_cpython_wrapper", "inline"}
        & set(value.targetoptions)  # only kernels call these
    }
    assert len(found) > 50
    assert {
        value.py_func.__name__ for value in found if not value.targetoptions.get("nogil")
    } == set()
