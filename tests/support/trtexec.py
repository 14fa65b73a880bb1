"""A stand-in for TensorRT's trtexec."""


def stand_in(file, record, version):
    """Write a program that says its version, such as 100300, where it is asked, and runs the lines
    ``record`` for every other call."""
    file.write_text(
        f"""#!/bin/sh
if [ "$1" = --help ]; then
    echo "&&&& RUNNING TensorRT.trtexec [TensorRT v{version}] # $0 --help"
    exit 0
fi
{record}
"""
    )
    file.chmod(0o755)
