"""Result folders, HTML reports, notebook views and Perfetto traces.

:func:`~results.export.result_folder.write_results` and ``read_results`` are the entries.
"""
