// Send back what comes: echo-go 127.0.0.1:7000, or echo-go unix:/tmp/echo.sock.
//
// Go's queue of connections is as long as the system allows, and TCP_NODELAY is set by default.
package main

import (
	"log"
	"net"
	"os"
	"strings"
)

func echo(connection net.Conn) {
	defer connection.Close()
	buffer := make([]byte, 65536)
	for {
		n, err := connection.Read(buffer)
		if err != nil {
			return
		}
		if _, err = connection.Write(buffer[:n]); err != nil {
			return
		}
	}
}

func main() {
	network, address := "tcp", os.Args[1]
	if strings.HasPrefix(address, "unix:") {
		network, address = "unix", strings.TrimPrefix(address, "unix:")
	}
	listener, err := net.Listen(network, address)
	if err != nil {
		log.Fatal(err)
	}
	for {
		connection, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go echo(connection)
	}
}
