"""Write messages and mailboxes for tests, with the standard library."""

from collections.abc import Iterable, Sequence
from email.message import EmailMessage

Attachment = tuple[str, bytes]


def message(
    body: str = "Some words.",
    subject: str = "Lunch",
    attachments: Iterable[Attachment] = (),
    sender: str = "Ann Author <ann@example.org>",
    html: str = "",
) -> EmailMessage:
    """Return a message of 2021-05-17 to Bob."""
    made = EmailMessage()
    made["From"], made["To"], made["Subject"] = sender, "Bob Reader <bob@example.org>", subject
    made["Date"] = "Mon, 17 May 2021 12:00:00 +0200"
    made.set_content(body)
    if html:
        made.add_alternative(html, subtype="html")
    for name, data in attachments:
        made.add_attachment(data, maintype="application", subtype="octet-stream", filename=name)
    return made


def eml(*args: object, **options: object) -> bytes:
    """Return the bytes of `message(...)`."""
    return message(*args, **options).as_bytes()  # type: ignore[arg-type]


def mbox(messages: Sequence[bytes]) -> bytes:
    """Return a mailbox of these messages."""
    return b"".join(mbox_entry(data) for data in messages)


def mbox_entry(data: bytes) -> bytes:
    """Return a message as it stands in a mailbox."""
    body = data.replace(b"\nFrom ", b"\n>From ")
    return b"From ann@example.org Mon May 17 12:00:00 2021\n" + body.rstrip(b"\n") + b"\n\n"
