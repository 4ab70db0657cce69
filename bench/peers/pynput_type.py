"""pynput: type by giving a spare key the wanted character, one key at a time (as enigo does)."""

import json

from pynput.keyboard import Controller, Key

from peer import serve

keyboard = Controller()


def sample(line):
    for character in json.loads(line):
        if character == "\n":
            keyboard.tap(Key.enter)
        else:
            keyboard.tap(character)


serve(sample)
