"""Runs the verifier of docs/verify.py over many logs: one JSON case per line comes in, one verdict per line goes out."""
import importlib.util, json, pathlib, sys

path = pathlib.Path(__file__).resolve().parents[2] / "docs" / "verify.py"
spec = importlib.util.spec_from_file_location("verify", path)
verify = importlib.util.module_from_spec(spec)
sys.dont_write_bytecode = True
spec.loader.exec_module(verify)

# The signature of one checkpoint is checked once, and not for each of thousands of logs.
known = {}
signed = verify.read_checkpoint


def read_checkpoint(*given):
    key = json.dumps(given)
    if key not in known:
        known[key] = signed(*given)
    return known[key]


verify.read_checkpoint = read_checkpoint


def verdict(lines, case):
    try:
        verify.check_log(lines, case["checkpoint"], case["keys"])
        return "ok"
    except (verify.Rejected, ValueError, KeyError, TypeError, AttributeError) as reason:
        return f"rejected: {reason}"


def unnoticed(case):
    """Changes each byte of each event, in some bits or in one, and returns the changes that were not found."""
    missed = []
    count = 0
    for at, line in enumerate(case["log"]):
        if not line.startswith('{"seq"'):
            continue
        text = line.encode()
        for offset in range(len(text)):
            for bit in case["bits"] or [offset % 8]:
                changed = bytearray(text)
                changed[offset] ^= 1 << bit
                try:
                    lines = [*case["log"][:at], changed.decode(), *case["log"][at + 1 :]]
                except UnicodeDecodeError:
                    continue
                count += 1
                if verdict("\n".join(lines).split("\n"), case) == "ok":
                    missed.append([at, offset, bit])
    return {"count": count, "missed": missed}


for text in sys.stdin:
    case = json.loads(text)
    print(json.dumps(unnoticed(case) if case.get("everyByte") else verdict(case["log"], case)), flush=True)
