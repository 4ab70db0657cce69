"""pyatspi as a referee: the text in the editable field of an application, whoever typed it."""

import pyatspi

from peer import serve


def fields(node, depth=0):
    """Editable text fields; paragraphs of a document count as one field."""
    role = node.getRole()
    if role == pyatspi.ROLE_DOCUMENT_TEXT:
        lines = []
        for index in range(node.childCount):
            child = node.getChildAtIndex(index)
            if child is not None and child.getRole() == pyatspi.ROLE_PARAGRAPH:
                lines.append(text(child))
        yield "\n".join(lines)
        return
    state = node.getState()
    multi = state.contains(pyatspi.STATE_MULTI_LINE) or role == pyatspi.ROLE_TEXT
    if multi and state.contains(pyatspi.STATE_EDITABLE) and state.contains(pyatspi.STATE_FOCUSED):
        yield text(node)
        return
    if depth < 40:
        for index in range(min(node.childCount, 400)):
            child = node.getChildAtIndex(index)
            if child is not None:
                yield from fields(child, depth + 1)


def text(node):
    node.clearCache()
    found = node.queryText()
    return found.getText(0, found.characterCount)


def sample(line):
    desktop = pyatspi.Registry.getDesktop(0)
    for app in desktop:
        if app is not None and line.lower() in (app.name or "").lower():
            found = sorted(fields(app), key=len)
            return {"text": found[-1] if found else None}
    return {"text": None}


serve(sample)
