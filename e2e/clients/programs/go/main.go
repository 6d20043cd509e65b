// One Go library as a program: its arguments are NAME URL FOLDER. See ../main.mjs for what it
// prints and reads.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// An open connection, by either library.
type connection interface {
	tools(ctx context.Context) ([]string, error)
	whoami(ctx context.Context) (text string, isError bool, err error)
}

var name, server, folder = os.Args[1], os.Args[2], os.Args[3]
var connect = map[string]func(context.Context, *redirects) (connection, error){"go-sdk": connectSDK, "mcp-go": connectMCPGo}
var hours, _ = strconv.Atoi(os.Getenv("HOURS_LATER"))

// How far the clock of this program is ahead: both libraries read the machine's.
func ahead() time.Duration {
	return time.Duration(hours) * 3601 * time.Second
}

// What an application keeps between two starts.
func save(file string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, file), text, 0o600)
}

func load(file string, value any) bool {
	text, err := os.ReadFile(filepath.Join(folder, file))
	return err == nil && json.Unmarshal(text, value) == nil
}

// A loopback server for the redirect, at the port of the first start.
type redirects struct {
	uri     string
	arrived chan url.Values
}

func listen() (*redirects, error) {
	var port int
	load("port.json", &port)
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return nil, err
	}
	port = listener.Addr().(*net.TCPAddr).Port
	back := &redirects{fmt.Sprintf("http://127.0.0.1:%d/callback", port), make(chan url.Values, 1)}
	go http.Serve(listener, http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		back.arrived <- request.URL.Query()
	}))
	return back, save("port.json", port)
}

// Sends the user to the browser, and returns the parameters of the redirect.
func (back *redirects) visit(address string) (url.Values, error) {
	if err := exec.Command("xdg-open", address).Start(); err != nil {
		return nil, err
	}
	select {
	case query := <-back.arrived:
		return query, nil
	case <-time.After(20 * time.Second):
		return nil, errors.New("no redirect in 20 s")
	}
}

type line struct {
	Tools   []string `json:"tools,omitempty"`
	Text    string   `json:"text,omitempty"`
	IsError bool     `json:"isError,omitempty"`
	Failed  string   `json:"failed,omitempty"`
}

func say(said line, err error) {
	if err != nil {
		said = line{Failed: fmt.Sprintf("%.500s", err)}
	}
	text, _ := json.Marshal(said)
	fmt.Println(string(text))
}

func call(ctx context.Context, open connection) (line, error) {
	text, isError, err := open.whoami(ctx)
	return line{Text: text, IsError: isError}, err
}

func start(ctx context.Context) (connection, line, error) {
	back, err := listen()
	if err != nil {
		return nil, line{}, err
	}
	open, err := connect[name](ctx, back)
	if err != nil {
		return nil, line{}, err
	}
	names, err := open.tools(ctx)
	if err != nil {
		return open, line{}, err
	}
	said, err := call(ctx, open)
	said.Tools = names
	return open, said, err
}

func main() {
	ctx := context.Background()
	open, said, err := start(ctx)
	say(said, err)
	for lines := bufio.NewScanner(os.Stdin); open != nil && lines.Scan(); {
		if lines.Text() == "later" {
			hours++
		}
		say(call(ctx, open))
	}
}
