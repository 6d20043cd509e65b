// Refreshes twice with golang.org/x/oauth2, which sends the refresh token and nothing else, and
// revokes with net/http: the library has no revocation. README.md says how to start it.
package main

import (
	"context"
	"encoding/json"
	"log"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"golang.org/x/oauth2"
)

var broker = oauth2.Config{
	ClientID:     os.Getenv("BROKER_CLIENT_ID"),
	ClientSecret: os.Getenv("BROKER_CLIENT_SECRET"),
	Endpoint:     oauth2.Endpoint{TokenURL: os.Getenv("BROKER_URL") + "/v1/token", AuthStyle: oauth2.AuthStyleInHeader},
}

var client = &http.Client{
	Timeout:       15 * time.Second,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

func refresh(refreshToken string) (*oauth2.Token, error) {
	ctx := context.WithValue(context.Background(), oauth2.HTTPClient, client)
	return broker.TokenSource(ctx, &oauth2.Token{RefreshToken: refreshToken}).Token()
}

func revoke(refreshToken string) (int, error) {
	form := strings.NewReader(url.Values{"token": {refreshToken}}.Encode())
	request, err := http.NewRequest(http.MethodPost, os.Getenv("BROKER_URL")+"/v1/revoke", form)
	if err != nil {
		return 0, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.SetBasicAuth(url.QueryEscape(broker.ClientID), url.QueryEscape(broker.ClientSecret))
	answer, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	return answer.StatusCode, answer.Body.Close()
}

func main() {
	tokens, err := refresh(os.Getenv("REFRESH_TOKEN"))
	exitOn(err)
	again, err := refresh(tokens.RefreshToken)
	exitOn(err)
	revoked, err := revoke(again.RefreshToken)
	exitOn(err)
	exitOn(json.NewEncoder(os.Stdout).Encode(map[string]any{
		"accessTokens": []string{tokens.AccessToken, again.AccessToken},
		"refreshToken": again.RefreshToken,
		"revoked":      revoked,
	}))
}

func exitOn(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
