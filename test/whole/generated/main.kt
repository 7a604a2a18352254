/**
 * Loads an app's first screens, sends, deletes and signs out with a generated client, and prints each decoded
 * response as a line "name: value".
 */
import java.io.File
import java.util.UUID
import market.apis.*
import market.infrastructure.ApiClient
import market.infrastructure.ClientException
import market.models.*

fun main(arguments: Array<String>) {
    val (api, token, owner, listing, closed) = arguments
    val (conversation, box, company, house, garden) = arguments.drop(5)
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
    say("export", AccountsApi(api).exportAccount().identities.flatMap { it.listings.takeLast(1) }.map { it.titleAr })

    val media = MediaApi(api)
    say("avatar", media.uploadAvatar(File(house)).width)
    say("documents", media.uploadDocuments(UUID.fromString(company), listOf(File(house))).files.all { it.ok })
    val session = UUID.randomUUID()
    val uploaded = media.uploadListingMedia(listOf(File(house), File(garden)), uploadSessionId = session)
    say("pictures", uploaded.files.count { it.ok })
    val place = LocationInput(lat = 29.335, lng = 48.076)
    val written = NewProperty(
        type = NewProperty.Type.SALE,
        titleAr = "بيت للبيع في السالمية",
        price = 285000.125,
        landAreaM2 = 400.5,
        location = place,
        uploadSessionId = session,
    )
    val draft = properties.createProperty(written)
    say("sent", draft.id)
    properties.deletePropertyMedia(draft.id, uploaded.files.first().mediaId!!)
    properties.deleteProperty(UUID.fromString(listing))

    SignInApi(api).logout()
    try {
        chat.listBlocks()
    } catch (refused: ClientException) {
        say("signed out", refused.statusCode)
    }
    ApiClient.accessToken = null
    say("closed", properties.getProperty(closed).let { "${it.status.value} ${it.available}" })
}
