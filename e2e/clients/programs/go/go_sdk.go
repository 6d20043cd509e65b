package main

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// A token source that keeps each token, with the configuration that the library made for it.
type keptSource struct {
	ctx    context.Context
	Config *oauth2.Config
	Kept   *oauth2.Token
}

func (source *keptSource) Token() (*oauth2.Token, error) {
	token := *source.Kept
	token.Expiry = token.Expiry.Add(-ahead())
	fresh, err := source.Config.TokenSource(source.ctx, &token).Token()
	if err != nil || fresh.AccessToken == token.AccessToken {
		return fresh, err
	}
	return fresh, source.keep(fresh)
}

func (source *keptSource) keep(token *oauth2.Token) error {
	token.Expiry = token.Expiry.Add(ahead())
	source.Kept = token
	return save("sdk.json", source)
}

type sdkConnection struct{ *mcp.ClientSession }

func connectSDK(ctx context.Context, back *redirects) (connection, error) {
	config := &auth.AuthorizationCodeHandlerConfig{
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{
			Metadata: &oauthex.ClientRegistrationMetadata{
				ClientName:   "Go SDK",
				RedirectURIs: []string{back.uri},
				GrantTypes:   []string{"authorization_code", "refresh_token"},
			},
		},
		AuthorizationCodeFetcher: func(_ context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			query, err := back.visit(args.URL)
			return &auth.AuthorizationResult{Code: query.Get("code"), State: query.Get("state"), Iss: query.Get("iss")}, err
		},
		NewTokenSource: func(ctx context.Context, made *oauth2.Config, token *oauth2.Token) (oauth2.TokenSource, error) {
			source := &keptSource{ctx: ctx, Config: made}
			return source, source.keep(token)
		},
	}
	if source := (&keptSource{ctx: ctx}); load("sdk.json", source) {
		config.InitialTokenSource = source
	}
	handler, err := auth.NewAuthorizationCodeHandler(config)
	if err != nil {
		return nil, err
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "go-sdk", Version: "1.0.0"}, nil)
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: server, OAuthHandler: handler}, nil)
	if err != nil {
		return nil, err
	}
	return sdkConnection{session}, nil
}

func (open sdkConnection) tools(ctx context.Context) ([]string, error) {
	listed, err := open.ListTools(ctx, nil)
	if err != nil {
		return nil, err
	}
	names := []string{}
	for _, tool := range listed.Tools {
		names = append(names, tool.Name)
	}
	return names, nil
}

func (open sdkConnection) whoami(ctx context.Context) (string, bool, error) {
	called, err := open.CallTool(ctx, &mcp.CallToolParams{Name: "whoami"})
	if err != nil {
		return "", false, err
	}
	text, _ := called.Content[0].(*mcp.TextContent)
	return text.Text, called.IsError, nil
}
