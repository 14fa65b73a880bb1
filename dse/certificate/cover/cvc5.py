"""Read SMT-LIB 2 from standard input and print cvc5's answer, in a process that can be ended."""

from __future__ import annotations

import sys


def main() -> None:
    """Print ``sat``, ``unsat`` or ``unknown``."""
    import cvc5

    terms = cvc5.TermManager()
    solver = cvc5.Solver(terms)
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, sys.stdin.read(), "certificate.smt2")
    symbols = parser.getSymbolManager()
    while True:
        command = parser.nextCommand()
        if command.isNull():
            break
        answer = str(command.invoke(solver, symbols)).strip()
        if answer:
            print(answer)


if __name__ == "__main__":
    main()
