"""Bundles of arrays that kernels take by reference.

Numba passes a named tuple of arrays by value: every function that takes one has all members of all its arrays as
arguments, hundreds of them, and compiling those calls takes longer than compiling the work. A class that is decorated
with `bundle` is one pointer instead, to a table of the arrays' addresses and shapes that lives as long as the call.
"""

from __future__ import annotations

import hashlib
import struct
from functools import cache

import numpy as np
from llvmlite import ir
from numba import config, extending, types
from numba.core.cgutils import pack_array

from shoal.kernels.compile.jit import compile_options

WORD = ir.IntType(64)
POINTER = ir.IntType(8).as_pointer()


class BundleType(types.Type):
    """A named tuple of arrays, numbers and other bundles, by reference; `places` are of its fields, in words."""

    def __init__(self, cls, kinds):
        self.cls, self.kinds = cls, kinds
        self.places, self.words = [], 0
        for kind in kinds:
            self.places.append(self.words)
            self.words += _words(kind)
        text = "\n".join(map(str, kinds))
        digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        super().__init__(name=f"{cls.__module__}.{cls.__qualname__}.{digest}")

    @property
    def key(self):
        return self.cls, self.kinds

    def field(self, name):
        """The number of a field."""
        return self.cls._fields.index(name)


def bundle(cls):
    """Let kernels take a named tuple class by reference, or by value with a Numba that cannot."""
    return by_reference(cls) if not config.DISABLE_JIT and compile_options().part else cls


def by_reference(cls):
    """Let kernels take a named tuple class by reference."""
    _register()

    @extending.typeof_impl.register(cls)
    def typeof_bundle(value, context):
        return BundleType(cls, tuple(extending.typeof_impl(field, context) for field in value))

    cls._packed = property(_Packed)
    return cls


def _words(kind):
    if isinstance(kind, types.Array):
        return 2 + 2 * kind.ndim  # items, address, shape, strides
    return kind.words if isinstance(kind, BundleType) else 1


class _Packed:
    """The table of a bundle."""

    __slots__ = ("address", "table")

    def __init__(self, value):
        words = []
        _pack(value, words)
        self.table = np.array(words, np.int64)
        self.address = self.table.__array_interface__["data"][0]


def _pack(value, words):
    for field in value:
        if isinstance(field, np.ndarray):
            words.append(field.size)
            words.append(field.__array_interface__["data"][0])
            words.extend(field.shape)
            words.extend(field.strides)
        elif isinstance(field, tuple):
            _pack(field, words)
        elif isinstance(field, float):
            words.extend(struct.unpack("q", struct.pack("d", field)))
        else:
            words.append(int(field))


@cache
def _register():
    """Tell Numba how bundles are passed and how their fields are read."""
    from numba.core.typing.templates import AttributeTemplate

    @extending.register_model(BundleType)
    class BundleModel(extending.models.PrimitiveModel):
        def __init__(self, manager, kind):
            super().__init__(manager, kind, POINTER)

    @extending.infer_getattr
    class Fields(AttributeTemplate):
        key = BundleType

        def generic_resolve(self, bundle, name):
            if name in bundle.cls._fields:
                return bundle.kinds[bundle.field(name)]
            return None

    extending.unbox(BundleType)(_unbox)
    extending.box(BundleType)(_refuse_to_box)
    extending.lower_getattr_generic(BundleType)(_get_field)


def _unbox(kind, value, c):
    packed = c.pyapi.object_getattr_string(value, "_packed")
    address = c.pyapi.object_getattr_string(packed, "address")
    pointer = c.pyapi.long_as_voidptr(address)
    c.pyapi.decref(address)
    return extending.NativeValue(
        c.builder.bitcast(pointer, POINTER),
        is_error=c.pyapi.c_api_error(),
        cleanup=lambda: c.pyapi.decref(packed),
    )


def _refuse_to_box(kind, value, c):
    raise TypeError("A kernel cannot return a bundle that it was given.")


def _get_field(context, builder, bundle, value, name):
    number = bundle.field(name)
    kind, place = bundle.kinds[number], bundle.places[number]
    if isinstance(kind, BundleType):
        return builder.gep(value, [ir.Constant(WORD, 8 * place)])
    table = builder.bitcast(value, WORD.as_pointer())

    def load(word, as_type):
        pointer = builder.gep(table, [ir.Constant(WORD, place + word)])
        if as_type != WORD:
            pointer = builder.bitcast(pointer, as_type.as_pointer())
        found = builder.load(pointer)
        found.set_metadata("invariant.load", builder.module.add_metadata([]))
        return found

    if not isinstance(kind, types.Array):
        return load(0, context.get_value_type(kind))
    return _array(context, builder, kind, load)


def _array(context, builder, kind, load):
    """An array without an owner, which the caller is."""
    axes = range(kind.ndim)
    parts = {
        "nitems": load(0, WORD),
        "itemsize": ir.Constant(WORD, context.get_abi_sizeof(context.get_data_type(kind.dtype))),
        "data": load(1, context.get_data_type(kind.dtype).as_pointer()),
        "shape": pack_array(builder, [load(2 + axis, WORD) for axis in axes]),
        "strides": pack_array(builder, [load(2 + kind.ndim + axis, WORD) for axis in axes]),
    }
    made = ir.Constant(context.get_value_type(kind), None)
    for name, part in parts.items():
        place = context.data_model_manager[kind].get_field_position(name)
        made = builder.insert_value(made, part, place)
    return made
