-- For wrk: -- <seed> <file of header values, a line each> <method> <path> <header>
-- Each request takes another value, at random, over all of them; the same seed makes the same choice.
local requests = {}

-- Not by `wrk.format`, which has the headers in another order each time it is run.
local function format(method, path, header, value)
  local own = header and header .. ': ' .. value .. '\r\n' or ''
  return method .. ' ' .. path .. ' HTTP/1.1\r\nHost: ' .. wrk.headers['Host'] .. '\r\n'
    .. 'X-Forwarded-For: 192.0.2.1\r\nX-Forwarded-Proto: https\r\n' .. own .. '\r\n'
end

function init(arguments)
  local seed, file, method, path, header = unpack(arguments)
  for value in io.lines(file) do
    requests[#requests + 1] = format(method, path, header, value)
  end
  math.randomseed(tonumber(seed))
end

function request()
  return requests[math.random(#requests)]
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\n{"requests":%d,"seconds":%f,"p50":%f,"p99":%f,"refused":%d,"failed":%d}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    errors.status, errors.connect + errors.read + errors.write + errors.timeout))
end
