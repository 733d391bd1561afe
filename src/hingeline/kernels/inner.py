"""Functions that only kernels call, compiled without what only Python would need.

A kernel consists of many small functions, and numba compiles each of them as if Python might call it too: with a
wrapper that unpacks Python objects, optimised on its own, and turned into machine code. The kernel that it becomes a
part of is optimised as a whole anyway. Leaving that out halves the time of a first fit. For the same reason ``min`` and
``max`` become instructions on the spot, not functions.

This uses parts of numba that are not documented. They have been the same for years, and the tests run with the oldest
and the newest version that we support.
"""

from __future__ import annotations

from typing import Any

from numba import _dynfunc
from numba.core import ir
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, LoweringPass, register_pass
from numba.core.typed_passes import NativeLowering, PreLowerStripPhis
from numba.core.untyped_passes import IRProcessing

NOT_NEEDED = frozenset(
    (
        "with_lifting",  # with blocks
        "inline_closure_likes",  # functions within functions, comprehensions
        "make_function_op_code_to_jit_function",
        "Rewrite dynamic raises",  # exceptions with arguments
        "inline_inlinables",  # functions marked inline="always"
        "inline_overloads",
        "find_literally",  # literally(), literal_unroll()
        "literal_unroll",
        "LiteralPropagation",
        "nopython_rewrites",  # fused expressions of whole arrays
        "nopython_supported_feature_validation",  # better messages for what numba does not support
        "annotate_types",  # for Dispatcher.inspect_types
        "dump_parfor_diagnostics",  # parallel=True
    )
)


class KernelLibrary(JITCodeLibrary):
    """The code of a kernel, optimised once: when all that it calls is part of it."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout


class InnerLibrary(KernelLibrary):
    """The code of an inner function, as it is before optimisation; nothing of it is turned into machine code."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


def _library_of(kind: type[KernelLibrary], state: Any) -> KernelLibrary:
    return kind(state.targetctx.codegen(), state.func_id.func_qualname)


@register_pass(mutates_CFG=False, analysis_only=False)
class UseInstructions(FunctionPass):
    """Have the function call ``least`` and ``largest`` where it says ``min`` and ``max``."""

    _name = "use_instructions"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:  # noqa: D102
        from .instructions import largest, least

        for block in state.func_ir.blocks.values():
            for assignment in block.find_insts(ir.Assign):
                if isinstance(assignment.value, ir.Global):
                    for function, instruction in ((min, least), (max, largest)):
                        if assignment.value.value is function:
                            assignment.value.value = instruction
        return False


@register_pass(mutates_CFG=False, analysis_only=False)
class AsKernel(FunctionPass):
    """Have the function lowered into a ``KernelLibrary``."""

    _name = "as_kernel"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:  # noqa: D102
        state.library = _library_of(KernelLibrary, state)
        state.library.enable_object_caching()  # so that it can be saved
        return False


@register_pass(mutates_CFG=False, analysis_only=False)
class AsInner(FunctionPass):
    """Have the function lowered into an ``InnerLibrary``."""

    _name = "as_inner"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:  # noqa: D102
        state.library = _library_of(InnerLibrary, state)
        state.flags.no_compile = True
        return False


@register_pass(mutates_CFG=False, analysis_only=False)
class MakeKnown(LoweringPass):
    """Tell numba where kernels find an inner function, which has no machine code that could stand for it."""

    _name = "make_known"

    def __init__(self) -> None:
        LoweringPass.__init__(self)

    def run_pass(self, state: Any) -> bool:  # noqa: D102
        lowered = state["cr"]
        fndesc = lowered.fndesc
        name = fndesc.qualname.split(".")[-1]
        stand_in = _dynfunc.make_function(fndesc.lookup_module(), name, "", 0, lowered.env, (state.library,))
        state.targetctx.insert_user_function(stand_in, fndesc, [state.library])
        state["cr"] = lowered._replace(cfunc=stand_in)
        return False


class Compiler(CompilerBase):
    """numba's compiler, which knows our instructions: importing them takes a while, so kernels on disk do without."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        from . import instructions  # noqa: F401

        super().__init__(*args, **kwargs)


class KernelCompiler(Compiler):
    """The compiler for functions that Python calls."""

    def define_pipelines(self) -> list[Any]:
        """Return the steps."""
        steps = _needed_steps(self.state)
        steps.add_pass_after(AsKernel, PreLowerStripPhis)
        steps.finalize()
        return [steps]


class InnerCompiler(Compiler):
    """The compiler for functions that only kernels call."""

    def define_pipelines(self) -> list[Any]:
        """Return the steps."""
        steps = _needed_steps(self.state)
        steps.add_pass_after(AsInner, PreLowerStripPhis)
        steps.add_pass_after(MakeKnown, NativeLowering)
        steps.finalize()
        return [steps]


def _needed_steps(state: Any) -> Any:
    """Return numba's own steps without those for parts of Python that no kernel uses."""
    steps = DefaultPassBuilder.define_nopython_pipeline(state)
    steps.passes = [(step, text) for step, text in steps.passes if step.name() not in NOT_NEEDED]
    steps.add_pass_after(UseInstructions, IRProcessing)
    return steps
