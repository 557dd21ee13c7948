/** The script in an export with which anybody checks it without this package; Python 3, and nothing else, runs it. */
export const checkScript = String.raw`#!/usr/bin/env python3
"""Checks the packages of this export: their files, their lines in the archive's log, and the way from each line to the
checkpoints. It needs nothing but Python 3 and changes nothing. Time stamps are checked by OpenSSL: see README.txt."""
import base64, hashlib, json, pathlib, sys

proof = pathlib.Path(__file__).resolve().parent
problems = []

def sha256(content):
    return hashlib.sha256(content).digest()

def sha256_of(file):
    digest = hashlib.sha256()
    with open(file, "rb") as opened:
        while block := opened.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()

def root_by_path(leaf, number, size, path):  # RFC 9162, section 2.1.3.2
    node, own, last = leaf, number, size - 1
    for other in path:
        if last == 0:
            return None
        if own % 2 == 1 or own == last:
            node = sha256(b"\x01" + other + node)
            while own % 2 == 0 and own != 0:
                own, last = own // 2, last // 2
        else:
            node = sha256(b"\x01" + node + other)
        own, last = own // 2, last // 2
    return node if last == 0 else None

# Each line: its number in the log, a space, and what it says of one package.
lines = dict(line.split(b" ", 1) for line in (proof / "log").read_bytes().split(b"\n") if line)
waiting = {json.loads(line)["sha256"] for line in lines.values()}

for manifest in sorted((proof.parent / "packages").rglob("manifest.json")):
    content = manifest.read_bytes()
    if sha256(content).hex() not in waiting:
        problems.append(f"{manifest}: no line of the log names this manifest")
    waiting.discard(sha256(content).hex())
    says = json.loads(content)
    files = {one["path"]: one["sha256"] for one in [*says["items"], says["measurement"], says["raw"]] if one}
    for name, expected in files.items():
        file = manifest.parent / name
        if not file.is_file() or sha256_of(file) != expected:
            problems.append(f"{file}: this is not the file that the manifest names")
    for file in manifest.parent.iterdir():
        if file.name not in files and file != manifest:
            problems.append(f"{file}: the manifest does not name this file")
for missing in waiting:
    problems.append(f"the package whose manifest has the SHA-256 {missing} is not here")

covered = set()
for paths in sorted(proof.glob("*/paths")):
    origin, size, root = (paths.parent / "checkpoint").read_text().split("\n")[:3]
    for number, *path in (line.split() for line in paths.read_text().splitlines()):
        leaf = sha256(b"\x00" + lines.get(number.encode(), b""))
        reached = root_by_path(leaf, int(number), int(size), [bytes.fromhex(one) for one in path])
        if int(number) < int(size) and reached == base64.b64decode(root):
            covered.add(number.encode())
        else:
            problems.append(f"{paths}: the line {number} does not lead to the checkpoint")
for number in lines.keys() - covered:
    problems.append(f"the line {number.decode()}: no checkpoint covers it, so nothing shows since when it is as it is")

print("\n".join(problems) or f"Packages: {len(lines)}. Their files, their lines in the log and the checkpoints agree.")
sys.exit(1 if problems else 0)
`;
