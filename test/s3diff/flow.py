"""What boto3 does with its defaults, told line by line; run on two endpoints."""
import hashlib
import io
import os
import sys
import urllib.request

import boto3
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import ClientError

s3 = boto3.client(
    "s3", endpoint_url=sys.argv[1], region_name="us-east-1",
    config=Config(signature_version="s3v4", s3={"addressing_style": "path"}, retries={"total_max_attempts": 1}),
)
KEPT = ("ETag", "ContentLength", "ContentType", "Metadata", "ContentRange", "ChecksumType",
        "ChecksumCRC32", "ChecksumCRC64NVME", "ChecksumSHA256", "PartsCount", "KeyCount")


def tell(what, do):
    try:
        r = do()
    except ClientError as e:
        print(what, e.response["ResponseMetadata"]["HTTPStatusCode"], e.response["Error"]["Code"])
        return
    shown = {k: r[k] for k in KEPT if k in r}
    if "Body" in r:
        shown["body"] = hashlib.sha256(r["Body"].read()).hexdigest()
    print(what, r["ResponseMetadata"]["HTTPStatusCode"], shown)


big = bytes(range(256)) * (12 << 12)
odd = "a b+c/=é%25"
tell("bucket", lambda: s3.create_bucket(Bucket="flow"))
for key in ("plain", odd):
    tell("put", lambda: s3.put_object(Bucket="flow", Key=key, Body=b"twelve bytes", Metadata={"Who": "me"}))
    tell("head", lambda: s3.head_object(Bucket="flow", Key=key, ChecksumMode="ENABLED"))
    tell("get", lambda: s3.get_object(Bucket="flow", Key=key))
    tell("range", lambda: s3.get_object(Bucket="flow", Key=key, Range="bytes=2-5"))
tell("sha256", lambda: s3.put_object(Bucket="flow", Key="sha", Body=b"x", ChecksumAlgorithm="SHA256"))
tell("twice", lambda: s3.put_object(Bucket="flow", Key="sha", Body=b"y", IfNoneMatch="*"))
tell("match", lambda: s3.get_object(Bucket="flow", Key="sha", IfMatch='"none"'))
tell("missing", lambda: s3.get_object(Bucket="flow", Key="none"))
s3.upload_fileobj(io.BytesIO(big), "flow", "big", Config=TransferConfig(multipart_threshold=5 << 20, multipart_chunksize=5 << 20))
tell("multipart", lambda: s3.head_object(Bucket="flow", Key="big", ChecksumMode="ENABLED"))
tell("multipart", lambda: s3.get_object(Bucket="flow", Key="big"))
tell("list", lambda: s3.list_objects_v2(Bucket="flow"))
url = s3.generate_presigned_url("put_object", Params={"Bucket": "flow", "Key": "signed"})
with urllib.request.urlopen(urllib.request.Request(url, data=b"presigned", method="PUT")) as r:
    print("presigned put", r.status, r.headers["ETag"])
url = s3.generate_presigned_url("get_object", Params={"Bucket": "flow", "Key": "signed"})
with urllib.request.urlopen(url) as r:
    print("presigned get", r.status, r.headers["ETag"], r.read())
print("end")
sys.stdout.flush()
