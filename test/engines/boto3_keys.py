"""Writes, reads, lists, copies and deletes objects of every spelling with boto3.

    boto3_keys.py ENDPOINT BUCKET PREFIX STYLE

STYLE is path or virtual. Keys come from the environment, as boto3 reads them.
With RESOLVE=HOST every name below HOST leads to 127.0.0.1, as wildcard DNS would
have it. Prints "ok" and the number of keys in the end; whatever is wrong is an error.
"""

import os
import socket
import sys
import urllib.error
import urllib.request

import boto3
from boto3.s3.transfer import TransferConfig
from botocore.config import Config

KEYS = [
    "plain", "a b", "a+b", "d=1/x", "t 12:30.1/x", "x_$folder$", "mac@2x", "a%2Fb", "100%25.csv", "é/ü", "it's(1)!*~",
    "a,b;c&d", "한글/x", "q?x=1&y", "hash#tag", 'quote"<>', "back\\slash", "tab\tx", "-._~", "[x]{y}|^`",
]


def fetch(url):
    try:
        return urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url).read()
    except urllib.error.HTTPError as e:
        raise AssertionError(f"presigned {url[:200]}…: {e.code} {e.read()[:500]}") from None


def main(endpoint, bucket, prefix, style):
    lead = os.environ.get("RESOLVE")
    if lead:
        resolve = socket.getaddrinfo

        def wildcard(host, *args, **kwargs):
            return resolve("127.0.0.1" if host == lead or str(host).endswith("." + lead) else host, *args, **kwargs)

        socket.getaddrinfo = wildcard
    s3 = boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1", config=Config(signature_version="s3v4",
        s3={"addressing_style": style}, retries={"total_max_attempts": 1}, proxies={}))
    for n, name in enumerate(KEYS):
        key, body = f"{prefix}/{name}", f"body of {n}".encode()
        s3.put_object(Bucket=bucket, Key=key, Body=body, Metadata={"with_underscore": "1", "with-dash": "2"})
        got = s3.get_object(Bucket=bucket, Key=key)
        assert got["Body"].read() == body, key
        assert got["Metadata"] == {"with_underscore": "1", "with-dash": "2"}, (key, got["Metadata"])
        part = s3.get_object(Bucket=bucket, Key=key, Range="bytes=5-")
        assert part["Body"].read() == body[5:] and part["ResponseMetadata"]["HTTPStatusCode"] == 206, key
        url = s3.generate_presigned_url("get_object", Params={"Bucket": bucket, "Key": key}, ExpiresIn=60)
        assert fetch(url) == body, key
    listed = [o["Key"] for p in s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix + "/", PaginationConfig={"PageSize": 5})
              for o in p.get("Contents", [])]
    assert sorted(listed) == sorted(f"{prefix}/{k}" for k in KEYS), listed
    large = os.urandom(6 << 20) * 4
    with open(os.path.join(os.environ["WORK"], "large"), "wb") as f:
        f.write(large)
    s3.upload_file(f.name, bucket, f"{prefix}/large file", Config=TransferConfig(multipart_threshold=8 << 20, multipart_chunksize=8 << 20))
    s3.copy_object(Bucket=bucket, Key=f"{prefix}/copy", CopySource={"Bucket": bucket, "Key": f"{prefix}/large file"})
    assert s3.get_object(Bucket=bucket, Key=f"{prefix}/copy")["Body"].read() == large
    try:
        s3.get_object(Bucket=bucket, Key=f"{prefix}/missing")
        raise AssertionError("a missing key was read")
    except s3.exceptions.NoSuchKey:
        pass
    gone = s3.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": f"{prefix}/{k}"} for k in [*KEYS, "copy", "large file"]]})
    assert not gone.get("Errors"), gone
    assert not s3.list_objects_v2(Bucket=bucket, Prefix=prefix + "/").get("Contents")
    print("ok", len(KEYS))


if __name__ == "__main__":
    main(*sys.argv[1:])
