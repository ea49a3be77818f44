"""The whole order: source -> Scop -> Dependences -> Schedule -> tiles -> C.

    from polysched.pipeline import PipelineOptions, optimize

    optimized = optimize("gemm.c", PipelineOptions(tile=32))
"""

from polysched.pipeline.files import TransformedFile, check_packed, optimize, source_to_source, transform_file
from polysched.pipeline.optimized import Optimized
from polysched.pipeline.options import PipelineOptions
from polysched.pipeline.source_options import SourceOptions
from polysched.pipeline.stages import analysed, scheduled
from polysched.pipeline.way import emit_blocks, scanned_with_fallbacks

__all__ = ["Optimized", "PipelineOptions", "SourceOptions", "TransformedFile", "analysed", "check_packed",
           "emit_blocks", "optimize", "scanned_with_fallbacks", "scheduled", "source_to_source", "transform_file"]
