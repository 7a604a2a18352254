"""Loads an app's first screens, sends, deletes and signs out with a generated client, and prints each decoded
answer as a line "name: value"."""

import sys
from pathlib import Path
from uuid import UUID, uuid4

from market import AuthenticatedClient, Client
from market.api.accounts import export_account
from market.api.chat import list_blocks, list_conversations, list_messages
from market.api.favorites import list_favorites
from market.api.feed import list_feed
from market.api.map_ import list_map_listings
from market.api.media import upload_avatar, upload_documents, upload_listing_media
from market.api.notifications import list_notifications
from market.api.properties import (
    create_property,
    delete_property,
    delete_property_media,
    get_property,
    list_similar_properties,
)
from market.api.search import quick_search, search
from market.api.sign_in import logout
from market.models import (
    ListFeedFields,
    LocationInput,
    NewProperty,
    NewPropertyType,
    QuickSearchFields,
    Search,
    SearchStrategy,
    SearchType,
    UploadAvatarBody,
    UploadDocumentsBody,
    UploadListingMediaBody,
)
from market.types import File

api, token, owner, listing, closed, conversation, box, company, house, garden = sys.argv[1:]
client = AuthenticatedClient(base_url=api, token=token)
mine = UUID(owner)


def say(name, found):
    print(f"{name}: {found}".replace("'", ""))


def file(path):
    return File(payload=open(path, "rb"), file_name=Path(path).name)


def prices(page):
    return [f"{item.price}" for item in page.items]


say("cards", prices(quick_search.sync(client=client, owner_id=mine)))
say("records", prices(quick_search.sync(client=client, owner_id=mine, fields=QuickSearchFields.FULL)))
rents = Search(strategy=SearchStrategy.STANDARD, owner_id=mine, type_=SearchType.RENT)
say("search", prices(search.sync(client=client, body=rents)))
slots = list_feed.sync(client=client, limit=50).items
say("feed", sorted({slot.kind.value for slot in slots}))
slots = list_feed.sync(client=client, fields=ListFeedFields.FULL).items
say("full feed", str(any(isinstance(slot.media, list) for slot in slots)).lower())
say("clusters", sum(one.count for one in list_map_listings.sync(client=client, bbox=box, zoom=10, owner_id=mine).clusters))
say("points", len(list_map_listings.sync(client=client, bbox=box, zoom=16, owner_id=mine).points))
say("similar", str(bool(list_similar_properties.sync(UUID(listing), client=client).items)).lower())
found = get_property.sync(listing, client=client)
say("listing", f"{found.location.lat} {found.title_ar}")
say("favorites", [one.status.value for one in list_favorites.sync(client=client).items])
say("conversations", [one.last_message.preview for one in list_conversations.sync(client=client).items])
say("messages", [one.body for one in list_messages.sync(UUID(conversation), client=client).items])
say("notifications", [one.kind.value for one in list_notifications.sync(client=client).items])
say("blocks", [one.display_name for one in list_blocks.sync(client=client).items])
listings = [one.listings for one in export_account.sync(client=client).identities]
say("export", [some[-1].title_ar for some in listings if some])

body = UploadAvatarBody(file=file(house))
say("avatar", upload_avatar.sync(client=client, body=body).width)
body = UploadDocumentsBody(identity_id=UUID(company), files=[file(house)])
say("documents", str(all(one.ok for one in upload_documents.sync(client=client, body=body).files)).lower())
session = uuid4()
body = UploadListingMediaBody(files=[file(house), file(garden)], upload_session_id=session)
uploaded = upload_listing_media.sync(client=client, body=body)
say("pictures", sum(one.ok for one in uploaded.files))
written = NewProperty(
    type_=NewPropertyType.SALE,
    title_ar="بيت للبيع في السالمية",
    price=285000.125,
    land_area_m2=400.5,
    location=LocationInput(lat=29.335, lng=48.076),
    upload_session_id=session,
)
draft = create_property.sync(client=client, body=written)
say("sent", draft.id)
delete_property_media.sync_detailed(draft.id, uploaded.files[0].media_id, client=client)
delete_property.sync_detailed(UUID(listing), client=client)

logout.sync_detailed(client=client)
say("signed out", list_blocks.sync_detailed(client=client).status_code.value)
gone = get_property.sync(closed, client=Client(base_url=api))
say("closed", f"{gone.status.value} {str(gone.available).lower()}")
