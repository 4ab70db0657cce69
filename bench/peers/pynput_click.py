"""pynput: move to a point and click, in process, warm."""

from pynput.mouse import Button, Controller

from peer import serve

mouse = Controller()


def sample(line):
    x, y = line.split()
    mouse.position = (int(x), int(y))
    mouse.click(Button.left)


serve(sample)
