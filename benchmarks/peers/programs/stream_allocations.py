"""Stream on the example of its ``api.py``, a network of test layers on two cores: how many
allocations of layers to cores its genetic algorithm evaluates. Of clocks, and of chips that are
described by measured times, it knows nothing.

Usage: ``python -m benchmarks.peers.programs.stream_allocations``
"""

from __future__ import annotations

import importlib
import time
from typing import Any

from benchmarks.peers.programs.answer import Answer, print_answer, silent, version_of

INDIVIDUALS = 8
GENERATIONS = 2


def stream_answer() -> Answer:
    """A short run of its stages; only evaluations are timed, not its set-up."""
    stages: Any = importlib.import_module("stream.classes.stages")
    common: Any = importlib.import_module("zigzag.classes.stages")
    fitness: Any = importlib.import_module(
        "stream.classes.opt.allocation.genetic_algorithm.fitness_evaluator"
    )
    spent: list[float] = []
    evaluate = fitness.StandardFitnessEvaluator.get_fitness

    def timed(*args: Any, **kwargs: Any) -> Any:
        began = time.process_time()
        result = evaluate(*args, **kwargs)
        spent.append(time.process_time() - began)
        return result

    fitness.StandardFitnessEvaluator.get_fitness = timed
    with silent() as folder:
        common.MainStage(
            [
                common.AcceleratorParserStage,
                stages.UserDefinedModelParserStage,
                stages.GenerateCNWorkloadHybridStage,
                stages.IntraCoreMappingStage,
                stages.InterCoreMappingStage,
            ],
            accelerator="stream.inputs.testing.hardware.dual_testing_core_offchip",
            workload_path="stream.inputs.testing.workload.testing_workload_for_2_cores",
            mapping_path="stream.inputs.testing.mapping.testing_mapping",
            loma_lpf_limit=6,
            nb_ga_individuals=INDIVIDUALS,
            nb_ga_generations=GENERATIONS,
            node_hw_performances_path=f"{folder}/performances.pickle",
            plot_hof=False,
            plot_file_name=False,
            plot_full_schedule=False,
            plot_data_transfer=False,
            cn_define_mode=1,
            hint_loops=[("OY", "all")],
            scheduler_candidate_selection="memory",
            operands_to_prefetch=[],
        ).run()
    return Answer(
        version=version_of("stream-dse"),
        evaluates="allocation of layers to cores",
        evaluations_per_second=len(spent) / sum(spent),
    )


if __name__ == "__main__":
    print_answer(stream_answer())
