#!/usr/bin/env python3
"""Checks a Tildebase log, or the proof of one event, against a checkpoint that you trust.

    verify.py log CHECKPOINT KEYS LOG [--witness KEY]    LOG: a folder of `tilde backup --to`, or lines of JSON
    verify.py event PROOF KEYS [--witness KEY]           PROOF: the answer of GET /~{tenant}/proof/{event}

KEYS is the saved answer of /.well-known/tilde-keys, or a key such as host/~tenant+ID+KEY. With --witness the checkpoint
must also have a valid cosignature of that witness. Nothing is needed but Python 3.9 and this file: read it first.
"""
import argparse, base64, gzip, hashlib, json, pathlib, sys

FIELDS = ["seq", "id", "at", "type", "entity", "verb", "event", "version", "actor", "correlation", "createdAt",
          "createdBy", "data", "previous", "args", "salt", "digest", "hash"]
HEADER, OLDER = FIELDS[:12], [name for name in FIELDS if name != "args"]
OPTIONAL = {"onBehalfOf": str, "recordedAt": int}  # when a change of an imported past was recorded

class Rejected(Exception): pass
def demand(condition, sentence):
    if not condition: raise Rejected(sentence)

def sha256(*parts): return hashlib.sha256(b"".join(parts)).digest()
def decode(text): return base64.b64decode(text, validate=True)
def text_of(value): return json.dumps(value, separators=(",", ":"), ensure_ascii=False)  # as the service writes it

# Ed25519 (RFC 8032)
P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P

def point_of(data):
    number = int.from_bytes(data, "little")
    y, sign = number & (2**255 - 1), number >> 255
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    demand(len(data) == 32 and y < P and (x * x - square) % P == 0 and (x or not sign), "A key or signature is malformed.")
    x = P - x if x % 2 != sign else x
    return x, y, 1, x * y % P

def add(one, two):
    (x1, y1, z1, t1), (x2, y2, z2, t2) = one, two
    a, b = (y1 - x1) * (y2 - x2) % P, (y1 + x1) * (y2 + x2) % P
    c, d = 2 * t1 * t2 * D % P, 2 * z1 * z2 % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P

def multiply(point, factor):
    total = (0, 1, 1, 0)
    while factor:
        total = add(total, point) if factor & 1 else total
        point, factor = add(point, point), factor >> 1
    return total

BASE = point_of(bytes([0x58] + [0x66] * 31))

def is_signed(key, message, signature):
    demand(len(signature) == 64, "A signature has the wrong length.")
    s = int.from_bytes(signature[32:], "little")
    k = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % L
    left, right = multiply(BASE, s), add(point_of(signature[:32]), multiply(point_of(key), k))
    same = (left[0] * right[2] - right[0] * left[2]) % P == 0 and (left[1] * right[2] - right[1] * left[2]) % P == 0
    return s < L and same

# Checkpoints (C2SP signed-note, tlog-checkpoint, tlog-cosignature)
def read_checkpoint(note, keys, witnesses):
    text, _, lines = note.rpartition("\n\n")
    text += "\n"
    origin, size, root = text.split("\n")[:3]
    signatures = [(name, decode(value)) for _, name, value in (line.split(" ") for line in lines.splitlines())]
    def signed_by(name, kind, key):
        key_id = sha256(name.encode(), b"\n", bytes([kind]), key)[:4]
        for found in [value[4:] for one, value in signatures if one == name and value[:4] == key_id]:
            message = text.encode()
            if kind == 4:
                time, found = int.from_bytes(found[:8], "big"), found[8:]
                message = f"cosignature/v1\ntime {time}\n".encode() + message
            demand(is_signed(key, message, found), f"A signature of {name} is wrong.")
            return True
        return False
    demand(any([signed_by(origin, 1, key) for key in public_keys(keys, origin)]), "No known key signed the checkpoint.")
    for witness in witnesses:
        name, key = verifier_key(witness)
        demand(signed_by(name, 4, key), f"The witness {name} did not cosign the checkpoint.")
    demand(size == str(int(size)), "The size is malformed.")
    return origin, int(size), decode(root)

def verifier_key(text):
    name, _, key = text.split("+", 2)
    return name, decode(key)[1:]

def public_keys(keys, origin):
    if keys.lstrip().startswith("{"):
        return [decode(key["publicKey"]) for key in json.loads(keys)["keys"]]
    name, key = verifier_key(keys.strip())
    demand(name == origin, f"The checkpoint is of {origin}, and the key of {name}.")
    return [key]

# The tree (RFC 9162)
def push(stack, leaf):  # the stack holds the complete subtrees of the leaves so far
    level, node = 0, sha256(b"\0", leaf)
    while stack and stack[-1][0] == level:
        level, node = level + 1, sha256(b"\1", stack.pop()[1], node)
    stack.append((level, node))

def root_of(stack):
    node = stack[-1][1] if stack else sha256()
    for _, left in reversed(stack[:-1]):
        node = sha256(b"\1", left, node)
    return node

def root_of_inclusion(leaf, index, size, path):
    node, last = sha256(b"\0", leaf), size - 1
    demand(0 <= index < size, "The event is not in the checkpoint.")
    for sibling in path:
        demand(last > 0, "The proof is too long.")
        if index % 2 or index == last:
            node = sha256(b"\1", sibling, node)
            while index and not index % 2:
                index, last = index // 2, last // 2
        else:
            node = sha256(b"\1", node, sibling)
        index, last = index // 2, last // 2
    demand(last == 0, "The proof is too short.")
    return node

# Events
def digest_of(salt, event):
    texts = [event["data"] or "", event["previous"] or ""] + [event["args"]] * (event.get("args") is not None)
    return sha256(salt, "\n".join(texts).encode())

def check_log(lines, note, keys, witnesses=()):
    """Checks every event of a log, and that its first events are those that the checkpoint signed."""
    origin, size, root = read_checkpoint(note, keys, witnesses)
    seq, at, before, stack, found, erased, recorded = 0, 0, bytes(32), [], root_of([]), set(), set()
    for line in lines:
        event = json.loads(line)
        if {"tildebase", "beside", "end"} & event.keys():
            continue
        where = f"Event {seq + 1}"
        added = [name for name, kind in OPTIONAL.items() if type(event.get(name)) is kind]
        demand(list(event) in (OLDER, FIELDS + added) and text_of(event) == line, f"{where} is not written as the service writes it.")
        time = event.get("recordedAt", event["at"])
        demand(event["seq"] == seq + 1 and at <= time >= event["at"], f"{where} is missing or out of order.")
        digest = bytes.fromhex(event["digest"])
        if event["salt"] is None:
            demand({event.get(name) for name in FIELDS[12:15]} == {None}, f"{where} has values without a salt.")
            erased.add((event["type"], event["entity"]))
        else:
            salt = bytes.fromhex(event["salt"])
            demand(digest_of(salt, event) == digest and event["salt"] == salt.hex(), f"The values of event {seq + 1} changed.")
            if event["type"] == "Erasure":
                recorded.add(tuple(json.loads(event["data"])[name] for name in ("type", "entity")))
        before = sha256(before, text_of([event[name] for name in HEADER + added]).encode(), digest)
        demand(before.hex() == event["hash"] and digest.hex() == event["digest"], f"{where} does not fit the chain.")
        seq, at = event["seq"], time
        push(stack, before)
        if seq == size:
            found = root_of(stack)
    demand(seq >= size, f"The checkpoint covers {size} events, and the log has {seq}: it was cut off.")
    demand(found == root, f"The first {size} events are not those that the checkpoint signed: the log was rewritten.")
    demand(erased <= recorded, f"Values of {sorted(erased - recorded)[:3]} are missing without a record of an erasure.")
    return f"{origin}: {size} events are as they were signed; {seq - size} came later; {len(erased)} entities were erased."

def check_event(proof, keys, witnesses=()):
    entry, (origin, size, root) = proof["entry"], read_checkpoint(proof["checkpoint"], keys, witnesses)
    if entry["salt"] is None:
        demand({entry.get(name) for name in FIELDS[12:15]} == {None}, "The event has values without a salt.")
    else:
        demand(digest_of(decode(entry["salt"]), entry) == decode(entry["digest"]), "The values changed.")
    leaf = sha256(decode(entry["before"]), entry["header"].encode(), decode(entry["digest"]))
    index, path = json.loads(entry["header"])[0] - 1, [decode(text) for text in proof["proof"]]
    demand(root_of_inclusion(leaf, index, size, path) == root, "The event is not in the signed log.")
    return f"{origin}: event {index + 1} of {size} is as it was signed{'' if entry['salt'] else '; its values are not shown'}."

def lines_of(path):
    path = pathlib.Path(path)
    for file in sorted(path.glob("[0-9]*.ndjson*")) if path.is_dir() else [path]:
        with (gzip.open if file.suffix == ".gz" else open)(file, "rt", encoding="utf-8", newline="\n") as source:
            yield from (line.rstrip("\n") for line in source)

def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["log", "event"])
    parser.add_argument("files", nargs="+")
    parser.add_argument("--witness", action="append", default=[])
    given = parser.parse_args()
    read = lambda path: pathlib.Path(path).read_text(encoding="utf-8")
    keys = given.files[1] if "+" in given.files[1] and not pathlib.Path(given.files[1]).exists() else read(given.files[1])
    first = read(given.files[0])
    try:
        print(check_log(lines_of(given.files[2]), first, keys, given.witness) if given.what == "log"
              else check_event(json.loads(first), keys, given.witness))
    except (Rejected, ValueError, KeyError, TypeError, AttributeError, OSError) as reason:
        sys.exit(f"REJECTED: {reason}")

if __name__ == "__main__":
    main()
