"""The blob store: a folder on one machine, an S3 bucket in a cluster."""

import os
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

import obstore
from obstore.exceptions import BaseError as StoreError
from obstore.exceptions import NotFoundError
from obstore.store import LocalStore, S3Store

from onlooker.settings import Settings, SettingsError

Store = LocalStore | S3Store

__all__ = [
    "JOBS_PREFIX",
    "BlobStore",
    "StoreError",
    "attachment_path",
    "blob_path",
    "open_store",
    "remove_empty_folders",
]


def open_store(settings: Settings) -> Store:
    """The store that `blob_store_url` names."""
    if not settings.blob_store_url:
        folder = _folder(settings)
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return LocalStore(folder, automatic_cleanup=True)  # a job's folder goes with its last attachment
    url = urlsplit(settings.blob_store_url)
    if url.scheme != "s3" or not url.netloc:
        raise SettingsError("ONLOOKER_BLOB_STORE_URL must be s3://bucket or s3://bucket/prefix, or empty for a folder.")
    return S3Store(
        url.netloc,
        prefix=url.path.strip("/") or None,
        endpoint=settings.s3_endpoint or None,
        region=settings.s3_region,
        access_key_id=settings.s3_access_key,
        secret_access_key=settings.s3_secret_key,
        client_options={"allow_http": settings.s3_endpoint.startswith("http://"), "timeout": "20s"},
        retry_config={"max_retries": 2, "retry_timeout": timedelta(seconds=5)},
        virtual_hosted_style_request=False,
    )


def _folder(settings: Settings) -> Path:
    return settings.home_path / "blobs"


def remove_empty_folders(settings: Settings) -> None:
    """Folders of jobs that a killed process, or an earlier version, left behind. A gateway creates its own again."""
    folder = _folder(settings) / JOBS_PREFIX
    if settings.blob_store_url or not folder.is_dir():
        return
    with os.scandir(folder) as found:
        for entry in found:
            with suppress(OSError):  # it has an attachment in it
                Path(entry).rmdir()


class BlobStore:
    """Blobs of owners, and attachments of accepted jobs until they end."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def put(self, path: str, data: bytes) -> None:
        await obstore.put_async(self._store, path, data)

    async def get(self, path: str) -> bytes | None:
        try:
            found = await obstore.get_async(self._store, path)
        except (NotFoundError, FileNotFoundError):
            return None
        return bytes(await found.bytes_async())

    async def remove(self, paths: list[str]) -> None:
        for path in paths:
            try:
                await obstore.delete_async(self._store, path)
            except (NotFoundError, FileNotFoundError):
                continue

    async def older_than(self, prefix: str, moment: datetime) -> AsyncIterator[str]:
        """Paths below a prefix that were written before a moment."""
        async for page in obstore.list(self._store, prefix=prefix):
            for item in page:
                if item["last_modified"] < moment:
                    yield item["path"]


def blob_path(blob_id: object) -> str:
    return f"blobs/{blob_id}"


JOBS_PREFIX = "jobs"


def attachment_path(job_id: object, field: str) -> str:
    """Where an attachment of an accepted job waits; gone when the job ends."""
    return f"{JOBS_PREFIX}/{job_id}/{field}"
