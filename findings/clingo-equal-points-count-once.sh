#!/usr/bin/env bash
# clingo: two words of five points each have five points together.
#
# Guess: #maximize{5 : w(tax); 5 : w(tea)} and #sum{P : w(W), points(W,P)} add the points of all words that are there.
# Seen: clingo 5.8.3: both are sets of what stands before the colon, so equal points count once: words of 5, 5 and 2 points have
#   7, and of "5 and 5" or "4 and 2" the second is the optimum, 6.  Nothing is printed, with all warnings on.  With P,W in place
#   of P the sum is 12, and the first is the optimum, 10.
# What orderly does: its models for clingo (tests/field/ask.py) number the terms.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check clingo==5.8.3
cat >solve.py <<'PYTHON'
import clingo

SUM = "points(tax,5). points(tea,5). points(ate,2). total(S) :- S = #sum{ TERM : points(W,P) }. #show total/1."
BEST = """points(tax,5). points(tea,5). points(sate,4). points(ate,2).
1 {board(a); board(b)} 1.
w(tax) :- board(a). w(tea) :- board(a). w(sate) :- board(b). w(ate) :- board(b).
#maximize{ TERM : w(W), points(W,P) }. #show board/1."""
said = []


def last(program):
    control = clingo.Control(["0", "--warn=all"], logger=lambda code, text: said.append(text))
    control.add("base", [], program)
    control.ground([("base", [])])
    with control.solve(yield_=True) as models:
        for model in models:
            answer = str(model), model.cost
        assert models.get().exhausted
    return answer


print("clingo", clingo.__version__)
found = {term: (last(SUM.replace("TERM", term)), last(BEST.replace("TERM", term))) for term in ("P", "P,W")}
for term, answers in found.items():
    print(f"{term}: {answers}")
assert found["P"] == (("total(7)", []), ("board(b)", [-6])), "this has changed"
assert found["P,W"] == (("total(12)", []), ("board(a)", [-10])), "this has changed"
assert not said, said
PYTHON
env/bin/python solve.py
echo "as found: equal points count once"
