// Send as many bytes as the path says, /1024 for 1 KiB: http-go 127.0.0.1:7000.
package main

import (
	"bytes"
	"log"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"sync"
	"time"
)

const largest = 1 << 20

var (
	sizes  = regexp.MustCompile(`^/[1-9][0-9]{0,6}$`)
	lock   sync.RWMutex
	bodies = map[int][]byte{}
)

// Return a body, which is made once and kept; at most 16 are.
func bodyOf(size int) []byte {
	lock.RLock()
	body, found := bodies[size]
	lock.RUnlock()
	if found {
		return body
	}
	body = bytes.Repeat([]byte("x"), size)
	lock.Lock()
	defer lock.Unlock()
	if len(bodies) == 16 {
		bodies = map[int][]byte{}
	}
	bodies[size] = body
	return body
}

func answer(response http.ResponseWriter, request *http.Request) {
	status, body := http.StatusNotFound, []byte("ask for a size in bytes, as in /1024\n")
	if sizes.MatchString(request.URL.Path) {
		if size, _ := strconv.Atoi(request.URL.Path[1:]); size <= largest {
			status, body = http.StatusOK, bodyOf(size)
		}
	}
	response.Header().Set("Content-Type", "text/plain")
	response.Header().Set("Content-Length", strconv.Itoa(len(body)))
	response.WriteHeader(status)
	response.Write(body)
}

func main() {
	// Without a limit a client that sends its headers slowly holds a goroutine for ever.
	server := http.Server{
		Addr:              os.Args[1],
		Handler:           http.HandlerFunc(answer),
		ReadHeaderTimeout: 10 * time.Second,
	}
	log.Fatal(server.ListenAndServe())
}
