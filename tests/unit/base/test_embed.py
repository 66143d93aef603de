#!/usr/bin/env python3
"""Every byte survives tools/embed.py: writes awkward files, embeds them, compiles and reads them back."""
import os
import subprocess
import sys
import tempfile

root = sys.argv[1]
with tempfile.TemporaryDirectory() as d:
    os.makedirs(os.path.join(d, "gpus"))
    contents = {
        "gpus/a.gpu": bytes(c for c in range(1, 256)),
        "gpus/b.gpu": b'??= "quoted" \\n % trigraph\n\n\n',
        "gpus/empty.gpu": b"",
        "gpus/no_newline.gpu": b"last 0x1f1f",
    }
    for name, data in contents.items():
        with open(os.path.join(d, name), "wb") as f:
            f.write(data)
    subprocess.run([sys.executable, os.path.join(root, "tools/embed.py"), d, os.path.join(d, "e.c"),
                    os.path.join(d, "e.d"), "gpus/*.gpu", "nothing/*"], check=True)
    with open(os.path.join(d, "m.c"), "w") as f:
        f.write('#include "base/embed.h"\n#include <stdio.h>\nint main(void)\n{\n'
                "for (size_t i = 0; i < embedded_count; i++) {\n"
                'printf("%s %zu\\n", embedded_files[i].path, embedded_files[i].size);\n'
                "fwrite(embedded_files[i].data, 1, embedded_files[i].size, stdout);\n}\nreturn 0;\n}\n")
    exe = os.path.join(d, "m")
    subprocess.run([os.environ.get("CC", "cc"), "-I" + os.path.join(root, "src"), "-o", exe, os.path.join(d, "m.c"),
                    os.path.join(d, "e.c")], check=True)
    got = subprocess.run([exe], check=True, stdout=subprocess.PIPE).stdout
    want = b"".join(b"%s %d\n%s" % (n.encode(), len(c), c) for n, c in sorted(contents.items()))
    if got != want:
        sys.exit("embedded files differ from their sources")
    deps = open(os.path.join(d, "e.d")).read()
    missing = [n for n in contents if n not in deps]
    if missing:
        sys.exit("not in the depfile: %s" % missing)
