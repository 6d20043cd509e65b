package main

import (
	"context"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// The store that the library asks for a token, and the credentials it registered.
type keptTokens struct{}
type keptClient struct{ ID, Secret, Method string }

func (keptTokens) GetToken(context.Context) (*client.Token, error) {
	token := &client.Token{}
	if !load("mcp-go.json", token) {
		return nil, transport.ErrNoToken
	}
	token.ExpiresAt = token.ExpiresAt.Add(-ahead())
	return token, nil
}

func (keptTokens) SaveToken(_ context.Context, token *client.Token) error {
	later := *token
	later.ExpiresAt = later.ExpiresAt.Add(ahead())
	return save("mcp-go.json", later)
}

type mcpGoConnection struct {
	*client.Client
	back *redirects
}

func connectMCPGo(ctx context.Context, back *redirects) (connection, error) {
	registered := keptClient{}
	load("mcp-go-client.json", &registered)
	made, err := client.NewOAuthStreamableHttpClient(server, client.OAuthConfig{
		ClientID:                registered.ID,
		ClientSecret:            registered.Secret,
		TokenEndpointAuthMethod: registered.Method,
		RedirectURI:             back.uri,
		TokenStore:              keptTokens{},
		PKCEEnabled:             true,
	})
	if err != nil {
		return nil, err
	}
	open := mcpGoConnection{made, back}
	request := mcp.InitializeRequest{}
	request.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
	request.Params.ClientInfo = mcp.Implementation{Name: "mcp-go", Version: "1.0.0"}
	return open, open.authorized(ctx, func() error {
		if err := open.Start(ctx); err != nil {
			return err
		}
		_, err := open.Initialize(ctx, request)
		return err
	})
}

// Runs it, and once more after a sign-in if the library asks for one.
func (open mcpGoConnection) authorized(ctx context.Context, run func() error) error {
	err := run()
	if !client.IsOAuthAuthorizationRequiredError(err) {
		return err
	}
	if err := open.signIn(ctx, client.GetOAuthHandler(err)); err != nil {
		return err
	}
	return run()
}

func (open mcpGoConnection) signIn(ctx context.Context, handler *transport.OAuthHandler) error {
	if handler.GetClientID() == "" {
		if err := handler.RegisterClient(ctx, "mcp-go"); err != nil {
			return err
		}
		registered := keptClient{handler.GetClientID(), handler.GetClientSecret(), handler.GetTokenEndpointAuthMethod()}
		if err := save("mcp-go-client.json", registered); err != nil {
			return err
		}
	}
	verifier, err := client.GenerateCodeVerifier()
	if err != nil {
		return err
	}
	state, err := client.GenerateState()
	if err != nil {
		return err
	}
	address, err := handler.GetAuthorizationURL(ctx, state, client.GenerateCodeChallenge(verifier))
	if err != nil {
		return err
	}
	query, err := open.back.visit(address)
	if err != nil {
		return err
	}
	return handler.ProcessAuthorizationResponse(ctx, query.Get("code"), query.Get("state"), verifier)
}

func (open mcpGoConnection) tools(ctx context.Context) ([]string, error) {
	names := []string{}
	listed, err := open.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		return nil, err
	}
	for _, tool := range listed.Tools {
		names = append(names, tool.Name)
	}
	return names, nil
}

func (open mcpGoConnection) whoami(ctx context.Context) (text string, isError bool, err error) {
	request := mcp.CallToolRequest{}
	request.Params.Name = "whoami"
	err = open.authorized(ctx, func() error {
		called, err := open.CallTool(ctx, request)
		if err != nil {
			return err
		}
		content, _ := called.Content[0].(mcp.TextContent)
		text, isError = content.Text, called.IsError
		return nil
	})
	return text, isError, err
}
