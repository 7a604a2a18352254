/// Loads an app's first screens, sends, deletes and signs out with a generated client, and prints each decoded
/// response as a line "name: value".
import Foundation
import Market

let arguments = Array(CommandLine.arguments.dropFirst())
let (api, token, owner, listing, closed) = (arguments[0], arguments[1], arguments[2], arguments[3], arguments[4])
let (conversation, box, company) = (arguments[5], arguments[6], arguments[7])
let (house, garden) = (URL(fileURLWithPath: arguments[8]), URL(fileURLWithPath: arguments[9]))
configure()
MarketAPIConfiguration.shared.basePath = api
MarketAPIConfiguration.shared.customHeaders = ["Authorization": "Bearer \(token)"]
let mine = UUID(uuidString: owner)!
let home = UUID(uuidString: listing)!

func say(_ name: String, _ found: Any) {
    let texts = (found as? [Any] ?? [found]).map { "\($0)" }
    print("\(name): \(texts.joined(separator: " "))")
}
func prices(_ items: [Listed]) -> [NSNumber] { items.compactMap { $0.price.map { NSNumber(value: $0) } } }

say("cards", prices(try await SearchAPI.quickSearch(ownerId: mine).items))
say("records", prices(try await SearchAPI.quickSearch(fields: .full, ownerId: mine).items))
let rents = Search(strategy: .standard, type: .rent, ownerId: mine)
say("search", prices(try await SearchAPI.search(search: rents).items))
let feed = try await FeedAPI.listFeed(limit: 50)
say("feed", Set(feed.items.map(\.kind.rawValue)).sorted())
say("full feed", try await FeedAPI.listFeed(fields: .full).items.contains { $0.media != nil })
say("clusters", try await MapAPI.listMapListings(bbox: box, zoom: 10, ownerId: mine).clusters!.map(\.count).reduce(0, +))
say("points", try await MapAPI.listMapListings(bbox: box, zoom: 16, ownerId: mine).points!.count)
say("similar", try await !PropertiesAPI.listSimilarProperties(id: home).items.isEmpty)
let shown = try await PropertiesAPI.getProperty(id: listing)
say("listing", "\(shown.location!.lat) \(shown.titleAr!)")
say("favorites", try await FavoritesAPI.listFavorites().items.map(\.status.rawValue))
say("conversations", try await ChatAPI.listConversations().items.map { $0.lastMessage!.preview })
say("messages", try await ChatAPI.listMessages(id: UUID(uuidString: conversation)!).items.map { $0.body })
say("notifications", try await NotificationsAPI.listNotifications().items.map(\.kind.rawValue))
say("blocks", try await ChatAPI.listBlocks().items.map(\.displayName))
say("export", try await AccountsAPI.exportAccount().identities.compactMap(\.listings.last?.titleAr))

say("avatar", try await MediaAPI.uploadAvatar(file: house).width)
let papers = try await MediaAPI.uploadDocuments(identityId: UUID(uuidString: company)!, files: [house])
say("documents", papers.files.allSatisfy(\.ok))
let session = UUID()
let uploaded = try await MediaAPI.uploadListingMedia(files: [house, garden], uploadSessionId: session)
say("pictures", uploaded.files.filter(\.ok).count)
let written = NewProperty(
    type: .sale,
    titleAr: "بيت للبيع في السالمية",
    price: 285000.125,
    landAreaM2: 400.5,
    location: LocationInput(lat: 29.335, lng: 48.076),
    uploadSessionId: session
)
let draft = try await PropertiesAPI.createProperty(newProperty: written)
say("sent", draft.id)
try await PropertiesAPI.deletePropertyMedia(id: draft.id, mediaId: uploaded.files[0].mediaId!)
try await PropertiesAPI.deleteProperty(id: home)

try await SignInAPI.logout()
do {
    _ = try await ChatAPI.listBlocks()
} catch ErrorResponse.error(let status, _, _, _) {
    say("signed out", status)
}
MarketAPIConfiguration.shared.customHeaders = [:]
let sold = try await PropertiesAPI.getProperty(id: closed)
say("closed", "\(sold.status.rawValue) \(sold.available!)")
