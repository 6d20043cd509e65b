/** A client that goes on sending after it was answered, against a real request and response. */
import { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { endUnreadBody } from "./unread-bodies.ts";

const MIB = 1024 * 1024;

let socket: EventEmitter & { bytesRead: number; destroy(): void };
let request: { socket: typeof socket; complete: boolean };
let response: EventEmitter;
beforeEach(() => {
  vi.useFakeTimers();
  socket = Object.assign(new EventEmitter(), { bytesRead: 5 * MIB, destroy: vi.fn(() => socket.emit("close")) });
  request = { socket, complete: false };
  response = new EventEmitter();
  endUnreadBody(request as unknown as IncomingMessage, response as unknown as ServerResponse);
});
afterEach(() => vi.useRealTimers());

describe("bar#HT-1 a body that comes after its answer", () => {
  it("is read up to a megabyte, so that its client reads why it was refused, and no further", () => {
    response.emit("finish");
    socket.bytesRead += MIB;
    vi.advanceTimersByTime(400);
    expect(socket.destroy).not.toHaveBeenCalled();
    socket.bytesRead += 1;
    vi.advanceTimersByTime(400);
    expect(socket.destroy).toHaveBeenCalledOnce();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("may end by itself: the connection then serves further requests", () => {
    response.emit("finish");
    request.complete = true;
    vi.advanceTimersByTime(400);
    socket.bytesRead += 100 * MIB;
    vi.advanceTimersByTime(400);
    expect(socket.destroy).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  });

  it("is not looked at where all of it came before", () => {
    request.complete = true;
    response.emit("finish");
    expect(vi.getTimerCount()).toBe(0);
  });
});
