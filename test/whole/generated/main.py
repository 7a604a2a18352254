"""Shows the first screens of an app by generated code, one line for each, as "name: what was decoded"."""

import sys
from uuid import UUID

from market import AuthenticatedClient, Client
from market.api.accounts import export_account
from market.api.chat import list_blocks, list_conversations, list_messages
from market.api.favorites import list_favorites
from market.api.feed import list_feed
from market.api.map_ import list_map_listings
from market.api.notifications import list_notifications
from market.api.properties import create_property, get_property, list_similar_properties
from market.api.search import quick_search, search
from market.models import (
    ListFeedFields,
    LocationInput,
    NewProperty,
    NewPropertyType,
    QuickSearchFields,
    Search,
    SearchStrategy,
    SearchType,
)

api, token, owner, listing, closed, conversation, box = sys.argv[1:]
client = AuthenticatedClient(base_url=api, token=token)
mine = UUID(owner)


def say(name, found):
    print(f"{name}: {found}".replace("'", ""))


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
say("export", [one.listings[-1].title_ar for one in export_account.sync(client=client).identities])
written = NewProperty(
    type_=NewPropertyType.SALE,
    title_ar="بيت للبيع في السالمية",
    price=285000.125,
    land_area_m2=400.5,
    location=LocationInput(lat=29.335, lng=48.076),
)
say("sent", create_property.sync(client=client, body=written).id)
gone = get_property.sync(closed, client=Client(base_url=api))
say("closed", f"{gone.status.value} {str(gone.available).lower()}")
