"""How sure the bundled model is of what it knows and of what it does not: log p per piece.

From these figures comes the least log p of a piece in `assets/model/domain.json`, below which a
translation carries a notice. The sentences were written for this measurement: none is from the
training text.
"""

from __future__ import annotations

import argparse
import statistics
from typing import Any

from benchmarks.machine import describe
from transformer import Translator
from transformer.decoding import BEAM_SIZE
from viz.app.sentence.source_box import EXAMPLES

CAPTIONS = """A man in a yellow jacket is walking his dog along the beach.
Two women are sitting at a table and drinking coffee.
A little girl is jumping into a swimming pool.
Three boys are playing basketball in a park.
A cyclist is riding up a steep hill.
An old man is feeding pigeons in the square.
A group of people is waiting for the bus.
A waiter is carrying a tray with glasses.
A brown horse is standing in a green field.
Children are building a castle out of sand.
A woman with long hair is playing the guitar on stage.
A man is climbing a rock without a rope.
A boy wearing a red cap is eating ice cream.
Two dogs are fighting over a stick in the water.
People are dancing at a wedding.
A man is repairing a bicycle in front of his garage.
A young couple is taking a picture of the sunset.
A street musician is playing the violin.
A crowd is watching a football match in a stadium.
A girl in a pink dress is picking flowers.
A chef is cutting vegetables in a large kitchen.
Four men are pushing a car through the snow.
A baby is sleeping on a blue blanket.
A woman is reading a book to her children.
A man with a beard is drinking beer in a bar.
A train is crossing a bridge over a river.
A surfer is riding a big wave.
Two men are shaking hands in an office.
A black cat is lying on a windowsill.
A worker is painting the wall of a house white."""

EVERYDAY = """I have lost my umbrella.
What time does the train leave?
She will be back in ten minutes.
Can you help me with this suitcase?
We did not go to the cinema because it was raining.
My sister lives in a small town near Berlin.
He has never been to France.
Where did you buy these shoes?
I would like a cup of tea, please.
The shops are closed on Sunday.
It is too late to call her now.
They wanted to know if we were hungry.
Please close the door when you leave.
Tom is taller than his brother.
I do not understand what you mean.
How much does this book cost?
Your car is faster than mine.
She asked me to wait outside.
We are going to visit our grandparents tomorrow.
There is no milk in the fridge.
Do you speak German?
I was tired, so I went to bed early.
He forgot to lock the window.
This is the best soup that I have ever eaten.
If it snows tomorrow, we will stay at home.
My father works in a hospital.
Why are you laughing?
The meeting starts at nine o'clock.
I think that he is right.
Thank you for your letter."""

GERMAN = """Zwei Hunde rennen durch den Schnee.
Eine Frau liest eine Zeitung auf einer Bank.
Ich habe gestern das alte Buch gekauft.
Die Kinder spielen im Garten Fußball.
Wann fährt der nächste Zug nach Hamburg?
Der Mann, der seine Schlüssel verloren hat, wartet vor dem Haus.
Wir gehen morgen ins Kino.
Das Wetter ist heute sehr schön.
Mein Bruder arbeitet in einem Krankenhaus.
Kannst du mir bitte helfen?
Ein Junge mit einer roten Mütze isst ein Eis.
Sie wusste nicht, dass er schon angekommen war.
Der Kellner bringt die Rechnung.
Es gibt keine Milch mehr im Kühlschrank.
Warum lachst du?
Die alte Brücke wurde im letzten Jahr repariert.
Er hat vergessen, das Fenster zu schließen.
Eine Gruppe von Menschen wartet auf den Bus.
Am Sonntag sind die Geschäfte geschlossen.
Ich hätte gern eine Tasse Tee."""

SALAD = """snow the running through dogs black are two.
green ideas table of sleep the furiously under seven because.
purple window eats quickly the of mathematics shoe.
no the when rain yesterday blue going are spoon if.
bench newspaper coat on woman red reading a in is.
banana therefore climb without seventeen the lamp of.
of of the and to the in a is that.
door sing triangle happily under whether the milk between.
asdf qwer zxcv poiu lkjh mnbv.
xj qzt wv blorf gneep trax.
walk not of did why house the yesterday old without.
teeth river paper the jump is are were.
lorem ipsum dolor sit amet consectetur.
football playing shining children because sun the is are.
keys front lost house waiting man the who his in of the."""

LONG = [
    " ".join(
        f"{first} and then {second.lower()}" if n % 2 else f"{first} while {second.lower()}"
        for n, (first, second) in enumerate(pairs)
    ).replace(".", ",")
    for pairs in (
        list(zip(CAPTIONS.splitlines()[start::6], EVERYDAY.splitlines()[start::6], strict=True))
        for start in range(6)
    )
]
"""Six without an end, of sentences that the model knows."""


ONE_OR_TWO_WORDS = """Dog.
Hello!
Yes.
Good morning.
Thank you!
Snow
Stop!
Who?
Come in.
Red wine"""

NEWS = """The central bank raised interest rates by a quarter of a percentage point.
The tensor is sharded across the devices before the gradient is accumulated.
Scientists have discovered a new species of beetle in the Amazon basin.
The court rejected the appeal on procedural grounds.
Shares of the manufacturer fell sharply after the announcement.
The patient presented with acute abdominal pain and a mild fever.
Parliament will vote on the amended bill before the summer recess.
The compiler inlines small functions unless optimisation is disabled.
Inflation in the euro area slowed more than economists had expected.
The treaty obliges the parties to reduce their emissions by half."""


def groups() -> dict[str, list[str]]:
    """The sentences by what they are: the first three the model knows."""
    known = [*CAPTIONS.splitlines(), *EVERYDAY.splitlines()]
    return {
        "examples of the app": list(EXAMPLES),
        "captions": CAPTIONS.splitlines(),
        "everyday sentences": EVERYDAY.splitlines(),
        "one or two words": ONE_OR_TWO_WORDS.splitlines(),
        "news and technical": NEWS.splitlines(),
        "German": GERMAN.splitlines(),
        "capitals": [text.upper() for text in known[::3]],
        "word salad": SALAD.splitlines(),
        "run-on, 77 to 95 words": LONG,
    }


def add_arguments(commands: Any) -> None:
    """Register `python -m benchmarks confidence`."""
    parser = commands.add_parser("confidence", help="log p per piece in and out of the domain")
    parser.set_defaults(run=run)


def run(_options: argparse.Namespace) -> None:
    """Measure and print."""
    translator = Translator.load()
    assert translator.domain is not None  # the bundled model states one
    least = translator.domain.least_log_prob
    print(describe())
    print(f"log p per piece, beam {BEAM_SIZE}; a notice below {least}")
    print(f"{'text':24} {'sentences':>9} {'lowest':>7} {'median':>7} {'highest':>7} {'notice':>7}")
    for name, texts in groups().items():
        found = [log_prob_per_piece(translator, text) for text in texts]
        print(
            f"{name:24} {len(found):9} {min(found):7.2f} {statistics.median(found):7.2f} "
            f"{max(found):7.2f} {sum(value < least for value in found):7}"
        )


def log_prob_per_piece(translator: Translator, text: str) -> float:
    """Of the best translation, in nats."""
    best = translator.translate(text, beam_size=BEAM_SIZE).best.hypothesis
    return best.log_prob / len(best.tokens)
