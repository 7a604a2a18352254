/** Shows the first screens of an app by generated code, one line for each, as "name: what was decoded". */
import java.util.UUID
import market.apis.*
import market.infrastructure.ApiClient
import market.models.*

fun main(arguments: Array<String>) {
    val (api, token, owner, listing, closed) = arguments
    val (conversation, box) = arguments.drop(5)
    configure()
    ApiClient.accessToken = token
    val mine = UUID.fromString(owner)
    fun say(name: String, found: Any?) = println("$name: $found")
    fun prices(items: List<Listed>) = items.map { it.price?.toBigDecimal()?.stripTrailingZeros()?.toPlainString() }

    val search = SearchApi(api)
    say("cards", prices(search.quickSearch(ownerId = mine).items))
    say("records", prices(search.quickSearch(ownerId = mine, fields = SearchApi.FieldsQuickSearch.full).items))
    val rents = Search(strategy = Search.Strategy.standard, ownerId = mine, type = Search.Type.RENT)
    say("search", prices(search.search(rents).items))
    val feed = FeedApi(api)
    say("feed", feed.listFeed(limit = 50).items.map { it.kind.value }.toSet().sorted())
    say("full feed", feed.listFeed(fields = FeedApi.FieldsListFeed.full).items.any { it.media != null })
    val map = MapApi(api)
    say("clusters", map.listMapListings(box, 10, ownerId = mine).clusters?.sumOf { it.count })
    say("points", map.listMapListings(box, 16, ownerId = mine).points?.size)
    val properties = PropertiesApi(api)
    say("similar", properties.listSimilarProperties(UUID.fromString(listing)).items.isNotEmpty())
    say("listing", properties.getProperty(listing).let { "${it.location?.lat} ${it.titleAr}" })
    say("favorites", FavoritesApi(api).listFavorites().items.map { it.status.value })
    val chat = ChatApi(api)
    say("conversations", chat.listConversations().items.map { it.lastMessage?.preview })
    say("messages", chat.listMessages(UUID.fromString(conversation)).items.map { it.body })
    say("notifications", NotificationsApi(api).listNotifications().items.map { it.kind.value })
    say("blocks", chat.listBlocks().items.map { it.displayName })
    say("export", AccountsApi(api).exportAccount().identities.map { it.listings.last().titleAr })
    val place = LocationInput(lat = 29.335, lng = 48.076)
    val written = NewProperty(
        type = NewProperty.Type.SALE,
        titleAr = "بيت للبيع في السالمية",
        price = 285000.125,
        landAreaM2 = 400.5,
        location = place,
    )
    say("sent", properties.createProperty(written).id)
    ApiClient.accessToken = null
    say("closed", properties.getProperty(closed).let { "${it.status.value} ${it.available}" })
}
