//! Requests that a guest sends: only to authorities that the embedder allows, and few at a time.

use futures_util::stream;
use http::uri::{PathAndQuery, Scheme};
use http::{HeaderMap, HeaderValue, Method, Request, Response, Uri};
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use wasmtime_wasi::runtime::spawn;
use wasmtime_wasi_http::io::TokioIo;
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody};

use crate::exchange::Permission;

/// The limit of one run: each is a socket of the host, or an answer that the guest has not read to its end.
const MOST_CONNECTIONS: usize = 16;
/// An abandoned connection takes a moment to close.
const PLACE_TIMEOUT: Duration = Duration::from_millis(100);
/// The limit of the unread bytes of an answer.
const MOST_BUFFERED: usize = 32 << 10;
const MOST_HEADER_BYTES: usize = 16 << 10;
/// The limit of concurrent lookups of all guests: each has a thread until the system gives up.
const MOST_LOOKUPS: usize = 64;
const LOOKUP_STACK: usize = 512 << 10;
/// Used if a guest sets no timeout; its own run ends sooner or later.
const USUAL_TIMEOUT: Duration = Duration::from_secs(600);

pub type Io = Box<dyn Future<Output = Result<(), Error>> + Send>;
pub type Sent = Result<(Response<WasiBody>, Io), Error>;

/// The outgoing requests of one run.
pub struct Outgoing {
    permission: Option<Permission>,
    places: Arc<Semaphore>,
}

impl Outgoing {
    /// Without a `permission` nothing is sent.
    pub fn new(permission: Option<Permission>) -> Self {
        Self { permission, places: Arc::new(Semaphore::new(MOST_CONNECTIONS)) }
    }

    pub fn send(
        &self,
        request: Request<WasiBody>,
        options: RequestOptions,
    ) -> impl Future<Output = Sent> + Send + use<> {
        let admitted = self.admit(&request);
        let places = self.places.clone();
        async move {
            admitted?;
            match timeout(PLACE_TIMEOUT, places.acquire_owned()).await {
                Ok(Ok(place)) => send(request, options, Arc::new(place)).await,
                _ => Err(Error::ConnectionLimitReached),
            }
        }
    }

    fn admit(&self, request: &Request<WasiBody>) -> Result<(), Error> {
        let authority = request.uri().authority().ok_or(Error::HttpRequestUriInvalid)?;
        let scheme = request.uri().scheme_str().ok_or(Error::HttpRequestUriInvalid)?;
        let may_send = self.permission.as_ref().is_some_and(|permission| permission.allows(scheme, authority.as_str()));
        // CONNECT would reach other hosts through a proxy.
        if !may_send || request.method() == Method::CONNECT {
            return Err(Error::HttpRequestDenied);
        }
        Ok(())
    }
}

type Place = Arc<OwnedSemaphorePermit>;

async fn send(mut request: Request<WasiBody>, options: RequestOptions, place: Place) -> Sent {
    let connecting = timeout(options.connect_timeout.unwrap_or(USUAL_TIMEOUT), connect(request.uri()));
    let (mut sender, connection) = connecting.await.map_err(|_| Error::ConnectionTimeout)??;
    let held = place.clone();
    let connection = spawn(async move {
        let _held = held;
        connection.await.map_err(Error::from)
    });
    // Only proxies get the authority in the request line.
    let path = request.uri().path_and_query().map_or("/", PathAndQuery::as_str); // never empty
    *request.uri_mut() = path.parse().map_err(|_| Error::HttpRequestUriInvalid)?;
    let answering = timeout(options.first_byte_timeout.unwrap_or(USUAL_TIMEOUT), sender.send_request(request));
    let response = answering.await.map_err(|_| Error::ConnectionReadTimeout)??;
    let pause = options.between_bytes_timeout.unwrap_or(USUAL_TIMEOUT);
    let (mut head, body) = response.into_parts();
    head.headers = copy_of(&head.headers);
    Ok((Response::from_parts(head, paced(body, pause, place)), Box::new(connection)))
}

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

type Sender = http1::SendRequest<WasiBody>;
type Connection = http1::Connection<TokioIo<Box<dyn Stream>>, WasiBody>;

async fn connect(uri: &Uri) -> Result<(Sender, Connection), Error> {
    let authority = uri.authority().ok_or(Error::HttpRequestUriInvalid)?;
    let host = authority.host().trim_start_matches('[').trim_end_matches(']');
    let is_secure = uri.scheme() == Some(&Scheme::HTTPS);
    let usual = if is_secure { 443 } else { 80 };
    let port = authority.port().map_or(Ok(usual), |port| port.as_str().parse());
    let port = port.map_err(|_| Error::HttpRequestUriInvalid)?;
    let addresses = look_up(host, port).await.map_err(Error::Connect)?;
    let tcp = TcpStream::connect(&*addresses).await.map_err(Error::Connect)?;
    tcp.set_nodelay(true).map_err(Error::Connect)?;
    let stream: Box<dyn Stream> = if is_secure { Box::new(secure(host, tcp).await?) } else { Box::new(tcp) };
    Ok(http1::Builder::new()
        .max_buf_size(MOST_BUFFERED)
        .max_header_size(MOST_HEADER_BYTES)
        .handshake(TokioIo::new(stream))
        .await?)
}

/// Runs on a thread that the run does not wait for: a lookup cannot be cancelled.
async fn look_up(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    static PLACES: Semaphore = Semaphore::const_new(MOST_LOOKUPS);
    if let Ok(address) = host.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(address, port)]);
    }
    let place = PLACES.acquire().await.map_err(io::Error::other)?;
    let (found, wait) = oneshot::channel();
    let name = host.to_owned();
    thread::Builder::new().name("lookup".into()).stack_size(LOOKUP_STACK).spawn(move || {
        let _place = place;
        let _ = found.send((name.as_str(), port).to_socket_addrs().map(Iterator::collect));
    })?;
    wait.await.map_err(io::Error::other)?
}

async fn secure(host: &str, tcp: TcpStream) -> Result<impl Stream + use<>, Error> {
    let name = ServerName::try_from(host.to_owned()).map_err(|_| Error::HttpRequestUriInvalid)?;
    TlsConnector::from(client_config()?).connect(name, tcp).await.map_err(|error| {
        let cause = error.get_ref().and_then(|cause| cause.downcast_ref());
        match cause {
            Some(rustls::Error::InvalidCertificate(_)) => Error::TlsCertificateError,
            _ => Error::Tls(error),
        }
    })
}

/// Trusts this machine's authorities, or those of SSL_CERT_FILE and SSL_CERT_DIR, as they are at the first request.
fn client_config() -> Result<Arc<ClientConfig>, Error> {
    static CONFIG: OnceLock<Option<Arc<ClientConfig>>> = OnceLock::new();
    let config = CONFIG.get_or_init(|| {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let versions = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().ok()?;
        let is_usable = !roots.is_empty();
        is_usable.then(|| Arc::new(versions.with_root_certificates(roots).with_no_client_auth()))
    });
    config.clone().ok_or_else(|| Error::Tls(io::Error::other("this machine has no CA certificates")))
}

/// Copies the headers, which otherwise keep the whole read buffer.
fn copy_of(headers: &HeaderMap) -> HeaderMap {
    let mut copies = HeaderMap::with_capacity(headers.len());
    for (name, value) in headers {
        if let Ok(value) = HeaderValue::from_bytes(value.as_bytes()) {
            copies.append(name.clone(), value);
        }
    }
    copies
}

/// Fails if no frame comes for `pause`.
fn paced(body: Incoming, pause: Duration, place: Place) -> WasiBody {
    let frames = stream::unfold(Some((body, place)), move |rest| async move {
        let (mut body, place) = rest?;
        match timeout(pause, body.frame()).await {
            Ok(frame) => Some((frame?.map_err(Error::from), Some((body, place)))),
            Err(_) => Some((Err(Error::ConnectionReadTimeout), None)),
        }
    });
    StreamBody::new(frames).boxed_unsync()
}
