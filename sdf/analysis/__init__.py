"""Analysis of dataflow graphs: repetition vector, liveness, throughput, buffer sizes, cyclo-static
phases. :mod:`~sdf.analysis.sdf_report` collects the results."""
