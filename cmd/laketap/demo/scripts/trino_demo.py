"""Trino in the demo. Usage: trino_demo.py run TRINO_DIR WORK_DIR

Starts a server of its own, asks over its HTTP protocol and stops it. Trino is
the one engine that needs settings beside the URI: it ignores the endpoint and
the region that catalogs vend, so they come from the environment here, just as
`laketap connect trino` prints them.
"""

import contextlib
import glob
import json
import os
import re
import socket
import subprocess
import time
import urllib.request

import protocol

START_SECONDS = 120
JAVA_PLACES = (
    "/usr/lib/jvm/*/bin/java",
    "/opt/java/*/bin/java",
    "/Library/Java/JavaVirtualMachines/*/Contents/Home/bin/java",
    os.path.expanduser("~/.sdkman/candidates/java/*/bin/java"),
)


def java():
    """A Java of version 24 or newer, which Trino 476 needs."""
    homes = [os.path.join(os.environ.get("JAVA_HOME", ""), "bin", "java")]
    for path in homes + [p for place in JAVA_PLACES for p in sorted(glob.glob(place))]:
        with contextlib.suppress(OSError):
            with open(os.path.join(os.path.dirname(path), "..", "release"), encoding="utf-8") as f:
                found = re.search(r'JAVA_VERSION="(\d+)', f.read())
            if found and int(found.group(1)) >= 24:
                return path
    protocol.fail("Trino needs Java 24 or newer: install one, or point JAVA_HOME to it")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def configure(work, port):
    os.makedirs(os.path.join(work, "etc", "catalog"), exist_ok=True)
    settings = {
        "coordinator": "true",
        "node-scheduler.include-coordinator": "true",
        "http-server.http.port": port,
        "discovery.uri": f"http://127.0.0.1:{port}",
        "node.bind-ip": "127.0.0.1",
        "node.internal-address": "127.0.0.1",
        "catalog.management": "dynamic",
        "catalog.store": "memory",
        "query.max-memory": "512MB",
        "query.max-memory-per-node": "512MB",
        "memory.heap-headroom-per-node": "300MB",
    }
    with open(os.path.join(work, "etc", "config.properties"), "w", encoding="utf-8") as f:
        f.writelines(f"{k}={v}\n" for k, v in settings.items())


def start(trino, work, port):
    configure(work, port)
    command = [java(), "-server", "-Xms1G", "-Xmx2G", "-XX:+UseG1GC", "-XX:+ExitOnOutOfMemoryError"]
    command += ["-Djdk.attach.allowAttachSelf=true", "-XX:+EnableDynamicAgentLoading", "--enable-native-access=ALL-UNNAMED"]
    # The archive of loaded classes and the cheap compiler halve the start.
    command += ["-XX:+AutoCreateSharedArchive", f"-XX:SharedArchiveFile={work}/trino.jsa", "-XX:TieredStopAtLevel=1"]
    command += ["-Dfile.encoding=UTF-8", "-Dnode.environment=demo", "-Dnode.id=demo", f"-Dnode.data-dir={work}/data"]
    command += [f"-Dconfig={work}/etc/config.properties", f"-Dplugin.dir={trino}/plugin"]
    command += [f"-Dcatalog.config-dir={work}/etc/catalog", "-cp", f"{trino}/lib/*", "io.trino.server.TrinoServer"]
    log = open(os.path.join(work, "server.log"), "w", encoding="utf-8")
    return subprocess.Popen(command, cwd=work, stdin=subprocess.DEVNULL, stdout=log, stderr=log)


class Client:
    def __init__(self, port):
        self.base, self.headers = f"http://127.0.0.1:{port}", {"X-Trino-User": "demo", "X-Trino-Source": "laketap-demo"}

    def call(self, url, body=None):
        request = urllib.request.Request(url, data=body and body.encode(), headers=self.headers)
        with urllib.request.urlopen(request, timeout=120) as response:
            return json.load(response)

    def wait(self, server, work):
        """Returns the version once the server takes queries."""
        for _ in range(START_SECONDS * 4):
            if server.poll() is not None:
                break
            with contextlib.suppress(OSError, ValueError):
                info = self.call(f"{self.base}/v1/info")
                if not info["starting"]:
                    return info["nodeVersion"]["version"]
            time.sleep(0.25)
        protocol.fail(f"Trino did not start: see {work}/server.log")

    def sql(self, text):
        page, rows = self.call(f"{self.base}/v1/statement", text), []
        while True:
            if "error" in page:
                raise RuntimeError(page["error"]["message"])
            rows += page.get("data", [])
            if "nextUri" not in page:
                return rows
            page = self.call(page["nextUri"])


def create_catalog(client):
    settings = {
        "iceberg.catalog.type": "rest",
        "iceberg.rest-catalog.uri": protocol.catalog_uri(),
        "iceberg.rest-catalog.vended-credentials-enabled": "true",
        "fs.native-s3.enabled": "true",
        "s3.endpoint": os.environ["S3_ENDPOINT"],
        "s3.region": os.environ["S3_REGION"],
        "s3.path-style-access": "true",
    }
    client.sql("CREATE CATALOG lk USING iceberg WITH (" + ", ".join(f"\"{k}\" = '{v}'" for k, v in settings.items()) + ")")
    client.headers |= {"X-Trino-Catalog": "lk", "X-Trino-Schema": protocol.NAMESPACE}


def main(mode, trino, work):
    port = free_port()
    server, client = start(os.path.abspath(trino), os.path.abspath(work), port), Client(port)
    try:
        protocol.begin("trino", client.wait(server, work))
        create_catalog(client)
        for q in protocol.questions():
            protocol.answer(q, lambda: client.sql(" ".join(q["sql"])))
    finally:
        server.terminate()
        server.wait()


protocol.run(main)
