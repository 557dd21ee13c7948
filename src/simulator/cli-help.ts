import { defaultWebhooks } from "./cli-webhooks.ts";
import { suffixNames } from "./cli-arguments.ts";
import { modes, transactionIdKinds } from "./options.ts";

export const helpText = `Usage: dimensioner-simulator [options]

Simulates the equipment of a packing table, so that you can build and test flows without hardware:
a newer and an earlier dimensioner, the cloud that stores transactions and media, and a barcode scanner.
It runs until you press Ctrl+C. Nothing is stored on disk.

Devices
  --mode <mode>            operating mode of the newer device (default video-with-measurement):
                           ${modes.join(", ")}
  --parcel <name>          the parcel on the table at the start, or "none" (default shoe-box)
  --measure <seconds>      how long a measurement takes (default 0.5)
  --encoding <seconds>     how long a video is encoded before it can be fetched (default 3)
  --video-bytes <size>     size of each video, for example 512M or 4G; it remains playable

Cloud
  --token <token>          the access token that the cloud accepts (default simulator)
  --media-delay <seconds>  how long images and videos take to reach the cloud (default 2)
  --cloud-devices <n>      how many more devices are registered (default 0)
  --transaction-ids <type> ${transactionIdKinds.join(", ")} (default integer-string)
  --simulation-mode        answer remote measurements with made-up values, like the switch in the portal

Scanner
  --scanner-suffix <end>   what ends each scan: ${suffixNames.join(", ")} (default crlf)
  --scanner-no-aim         send no AIM identifier such as ]C1 in front of each code
  --scanner-repeats <n>    send each scan <n> times, like a scanner that still sees the label (default 1)
  --scanner-chunk <bytes>  send <bytes> bytes at a time, like a serial port (default: each scan at once)
  --scanner-connect <host:port>
                           also connect to a Node-RED that listens there

Webhook
  --webhook <address>      where the cloud posts a record of each measurement; can be given up to three times.
                           By default, the addresses of examples 01 and 20 in Node-RED on this computer:
${defaultWebhooks.map((address) => `                           ${address}`).join("\n")}
  --webhook-secret <header: value>
                           the header that is sent with each record (default x-webhook-secret: simulator)
  --no-webhook             post nothing

Network
  --control-port <port>    page and control API (default 8100)
  --newer-port <port>      newer device (default 8101)
  --earlier-port <port>    earlier device (default 8102)
  --cloud-port <port>      cloud (default 8103)
  --scanner-port <port>    scanner (default 8104); 0 takes any free port
  --host <address>         the address to listen on (default 127.0.0.1, reachable from this computer only)
  --expose                 required with any other address: everyone on the network can then use the simulator

Other
  --seed <number>          repeat the IDs and values of an earlier run, which printed this number at its start
  --keep <n>               how many transactions and requests are remembered (default 10000)
  --keep-bytes <size>      how much memory each of these two lists can take (default 64M)
  --quiet                  do not print a line for each request
  --help                   print this text
  --version                print the version

While the simulator runs, open http://127.0.0.1:8100 in a browser to place parcels, scan barcodes, watch the
requests and cause faults. The same from a shell:
  curl http://127.0.0.1:8100/state
  curl -H "content-type: application/json" -d '{"barcode":"VIDEO_START"}' http://127.0.0.1:8100/scan
docs/simulator.md describes the control API.
`;
