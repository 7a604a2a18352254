// Loads an app's first screens, sends, deletes and signs out with a generated client, and prints each decoded
// response as a line "name: value".
package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"market/market"

	"github.com/google/uuid"
)

var ctx = context.Background()

func say(name string, found any) { fmt.Printf("%s: %v\n", name, found) }

// Returns the decoded value, or panics with the error.
func must[T any](found *T, err error) *T {
	if err != nil || found == nil {
		panic(fmt.Sprint("not decoded: ", err))
	}
	return found
}

func each[T, U any](all []T, what func(T) U) []U {
	found := []U{}
	for _, one := range all {
		found = append(found, what(one))
	}
	return found
}

func prices(items []market.Listed) []string {
	return each(items, func(one market.Listed) string {
		return strconv.FormatFloat(*one.Price, 'f', -1, 64)
	})
}

// Returns the Content-Type and body of a form with files and text fields (pairs of name and value).
func form(fields []string, name string, files ...string) (string, io.Reader) {
	body := bytes.Buffer{}
	parts := multipart.NewWriter(&body)
	for pair := range slices.Chunk(fields, 2) {
		parts.WriteField(pair[0], pair[1])
	}
	for _, path := range files {
		content, _ := os.ReadFile(path)
		part, _ := parts.CreateFormFile(name, filepath.Base(path))
		part.Write(content)
	}
	parts.Close()
	return parts.FormDataContentType(), &body
}

func main() {
	api, token, listing, closed, box := os.Args[1], os.Args[2], os.Args[4], os.Args[5], os.Args[7]
	mine, conversation := uuid.MustParse(os.Args[3]), uuid.MustParse(os.Args[6])
	company, house, garden := os.Args[8], os.Args[9], os.Args[10]
	guest := must(market.NewClientWithResponses(api))
	client := must(market.NewClientWithResponses(api, market.WithRequestEditorFn(
		func(_ context.Context, request *http.Request) error {
			request.Header.Set("Authorization", "Bearer "+token)
			return nil
		})))

	cards := must(client.QuickSearchWithResponse(ctx, &market.QuickSearchParams{OwnerId: &mine}))
	say("cards", prices(must(cards.JSON200, nil).Items))
	full := market.QuickSearchParamsFieldsFull
	records := must(client.QuickSearchWithResponse(ctx, &market.QuickSearchParams{OwnerId: &mine, Fields: &full}))
	say("records", prices(must(records.JSON200, nil).Items))
	rent := market.SearchTypeRENT
	rents := must(client.SearchWithResponse(ctx, nil, market.Search{
		Strategy: market.SearchStrategyStandard, OwnerId: &mine, Type: &rent,
	}))
	say("search", prices(must(rents.JSON200, nil).Items))

	limit := 50
	feed := must(client.ListFeedWithResponse(ctx, &market.ListFeedParams{Limit: &limit}))
	kinds := each(must(feed.JSON200, nil).Items, func(one market.FeedSlot) string { return string(one.Kind) })
	slices.Sort(kinds)
	say("feed", slices.Compact(kinds))
	whole := market.ListFeedParamsFieldsFull
	fullFeed := must(client.ListFeedWithResponse(ctx, &market.ListFeedParams{Fields: &whole}))
	say("full feed", slices.ContainsFunc(must(fullFeed.JSON200, nil).Items,
		func(one market.FeedSlot) bool { return one.Media != nil }))

	far := must(client.ListMapListingsWithResponse(ctx, &market.ListMapListingsParams{Bbox: box, Zoom: 10, OwnerId: &mine}))
	sum := 0
	for _, one := range *must(far.JSON200, nil).Clusters {
		sum += one.Count
	}
	say("clusters", sum)
	near := must(client.ListMapListingsWithResponse(ctx, &market.ListMapListingsParams{Bbox: box, Zoom: 16, OwnerId: &mine}))
	say("points", len(*must(near.JSON200, nil).Points))

	similar := must(client.ListSimilarPropertiesWithResponse(ctx, uuid.MustParse(listing), nil))
	say("similar", len(must(similar.JSON200, nil).Items) > 0)
	found := must(must(client.GetPropertyWithResponse(ctx, listing, nil)).JSON200, nil)
	say("listing", fmt.Sprint(found.Location.Lat, " ", *found.TitleAr))
	favorites := must(client.ListFavoritesWithResponse(ctx, nil))
	say("favorites", each(must(favorites.JSON200, nil).Items,
		func(one market.SavedListing) string { return string(one.Status) }))
	conversations := must(client.ListConversationsWithResponse(ctx, nil))
	say("conversations", each(must(conversations.JSON200, nil).Items,
		func(one market.Conversation) string { return one.LastMessage.Preview }))
	messages := must(client.ListMessagesWithResponse(ctx, conversation, nil))
	say("messages", each(must(messages.JSON200, nil).Items,
		func(one market.Message) string { return one.Body }))
	notifications := must(client.ListNotificationsWithResponse(ctx, nil))
	say("notifications", each(must(notifications.JSON200, nil).Items,
		func(one market.Notification) string { return string(one.Kind) }))
	blocks := must(client.ListBlocksWithResponse(ctx, nil))
	say("blocks", each(must(blocks.JSON200, nil).Items,
		func(one market.Block) string { return one.DisplayName }))
	export := must(must(client.ExportAccountWithResponse(ctx, nil)).JSON200, nil)
	for _, one := range export.Identities {
		if len(one.Listings) > 0 {
			say("export", *one.Listings[len(one.Listings)-1].TitleAr)
		}
	}

	kind, body := form(nil, "file", house)
	avatar := must(client.UploadAvatarWithBodyWithResponse(ctx, nil, kind, body))
	say("avatar", must(avatar.JSON201, nil).Width)
	kind, body = form([]string{"identityId", company}, "files", house)
	documents := must(client.UploadDocumentsWithBodyWithResponse(ctx, nil, kind, body))
	say("documents", must(documents.JSON201, nil).Files[0].Ok)
	session := uuid.New()
	kind, body = form([]string{"uploadSessionId", session.String()}, "files", house, garden)
	uploaded := must(must(client.UploadListingMediaWithBodyWithResponse(ctx, nil, kind, body)).JSON201, nil)
	say("pictures", len(uploaded.Files))

	title, price, area := "بيت للبيع في السالمية", 285000.125, 400.5
	sent := must(client.CreatePropertyWithResponse(ctx, nil, market.NewProperty{
		Type: market.NewPropertyTypeSALE, TitleAr: &title, Price: &price, LandAreaM2: &area,
		Location: &market.LocationInput{Lat: 29.335, Lng: 48.076}, UploadSessionId: &session,
	}))
	draft := must(sent.JSON201, nil).Id
	say("sent", draft)
	must(client.DeletePropertyMediaWithResponse(ctx, draft, *uploaded.Files[0].MediaId, nil))
	must(client.DeletePropertyWithResponse(ctx, uuid.MustParse(listing), nil))

	must(client.LogoutWithResponse(ctx, nil, market.LogoutJSONRequestBody{}))
	say("signed out", must(client.ListBlocksWithResponse(ctx, nil)).StatusCode())
	gone := must(must(guest.GetPropertyWithResponse(ctx, closed, nil)).JSON200, nil)
	say("closed", fmt.Sprint(gone.Status, " ", *gone.Available))
}
