"""From a word list to a chart: what a roll of the dice is worth, next to a good board."""

import random
import sys

import altair as alt

from orderly_boggle import Scorer, load_wordlist, local_search, parse_scores
from orderly_boggle.cluster.boards.dicesets import load_dice
from orderly_boggle.cluster.boards.rolling import roll

words = load_wordlist(sys.argv[1] if len(sys.argv) > 1 else "scowl70")
scorer = Scorer("4x4", words.words, parse_scores("standard"))
dice, rng = load_dice("new").dice, random.Random(1)
rolls = scorer.scores([roll(dice, rng) for _ in range(20_000)]).tolist()
best = local_search(scorer, pool=20, runs=1)[0]
points = alt.X("score:Q", bin=alt.Bin(step=25), title="points of a roll")
data = alt.Data(values=[{"score": score} for score in rolls])
bars = alt.Chart(data).mark_bar().encode(points, alt.Y("count()", title="rolls"))
title = (
    f"{len(words):,} words: a roll gives {sum(rolls) / len(rolls):.0f} points, {best.board} "
    f"{best.score:,}"
)
bars.properties(title=title, width=500, height=250).save("rolls.svg")
print(title)
